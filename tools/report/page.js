const data = JSON.parse($("data").textContent);
const probe = document.body.appendChild(document.createElement("i"));  // a canvas takes no light-dark()
const css = name => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
const redraws = [];  // what has to be drawn anew where the colours or the width change

// The tip at the pointer.
const tip = (event, text) => {
  const box = $("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8);
  const top = event.clientY + 18 + box.offsetHeight > innerHeight ? event.clientY - box.offsetHeight - 8 : event.clientY + 18;
  box.style.left = `${Math.max(left, 4)}px`;
  box.style.top = `${top}px`;
};

const linked = (node, line) => {
  if (line == null) return node;
  node.dataset.line = line;
  node.addEventListener("pointerenter", () => light(line));
  node.addEventListener("click", () => light(line, true));
  listeners.push(() => node.classList.toggle("lit", lit === line));
  return node;
};

const levels = () => {
  languages = data.languages;
  const columns = data.levels.map((level, number) => {
    const { scroll, set, draw, seek } = pane();
    const column = make("div", { className: "pane" }, make("h3", { textContent: level.name }), scroll);
    // Four are readable beside each other: the text of PTX says what the dialect ptx says, Python what Tile IR does.
    const beside = data.levels.length < 5 || level.name !== "ptx" && (level.name !== "program" || data.levels[0].name !== "Python");
    const button = make("button", { textContent: `${level.name} (${level.text.split("\n").length})` });
    const show = shown => { column.hidden = !shown; button.ariaPressed = String(shown); };
    button.addEventListener("click", () => {
      if (NARROW.matches) columns.forEach(other => other.show(other.button === button));
      else show(column.hidden);
      redraw();
    });
    redraws.push(draw);
    $("choose").append(button);
    $("panes").append(column);
    set(level);
    return { button, show, seek, fit: () => show(NARROW.matches ? !number : beside) };
  });
  const fit = () => columns.forEach(column => column.fit());
  NARROW.addEventListener("change", fit);
  fit();
  return columns[0];
};

// Pictures: drawn when they come into sight.
const colour = number => {
  const group = Math.floor(number / 4) % 8, place = ((number % 4) + 4) % 4;
  return `hsl(${group * 45}, ${85 - 12 * place}%, ${90 - 6 * place}%)`;
};
const context = (canvas, width, height) => {
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.font = "11px ui-monospace, Menlo, Consolas, monospace";
  pen.textBaseline = "middle";
  return pen;
};
const picture = shape => {
  const rows = shape.texts.length, columns = shape.texts[0].length, canvas = make("canvas");
  const longest = Math.max(...shape.texts.flat().slice(0, 4096).map(text => text.length));
  const wide = columns * (7 * longest + 10) <= 1400 && rows <= 64 ? 7 * longest + 10 : Math.max(Math.min(Math.floor(1400 / columns), 14), 3);
  const named = wide > 14, high = named ? 22 : Math.min(wide, 14), margin = 34;
  const draw = () => {
    const pen = context(canvas, margin + columns * wide + 2, margin + rows * high + 2);
    pen.fillStyle = css("--dim");
    pen.fillText(`${shape.axes[0]}\\${shape.axes[1]}`, 4, 16);
    const step = (size, room) => Math.max(1, Math.ceil(room / size));
    pen.textAlign = "center";
    for (let j = 0; j < columns; j += step(wide, 22)) pen.fillText(j, margin + j * wide + wide / 2, 16);
    for (let i = 0; i < rows; i += step(high, 14)) pen.fillText(i, margin / 2, margin + i * high + high / 2);
    for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) {
      pen.fillStyle = colour(shape.numbers[i][j]);
      pen.fillRect(margin + j * wide, margin + i * high, wide - (wide > 5), high - (high > 5));
      if (named) { pen.fillStyle = "#1b1b1f"; pen.fillText(shape.texts[i][j], margin + j * wide + wide / 2, margin + i * high + high / 2); }
    }
  };
  canvas.addEventListener("pointermove", event => {
    const box = canvas.getBoundingClientRect();
    const j = Math.floor((event.clientX - box.left - margin) / wide), i = Math.floor((event.clientY - box.top - margin) / high);
    const inside = i >= 0 && j >= 0 && i < rows && j < columns;
    tip(event, inside && `(${shape.axes[0]}, ${shape.axes[1]}) = (${i}, ${j}): ${shape.texts[i][j].replace(/^T(\d+)V(\d+)$/, "thread $1, value $2")}`);
  });
  canvas.addEventListener("pointerleave", () => tip());
  canvas.style.minHeight = "40px";
  new IntersectionObserver((entries, watcher) => {
    if (entries.some(entry => entry.isIntersecting)) { draw(); redraws.push(draw); watcher.disconnect(); }
  }, { rootMargin: "400px" }).observe(canvas);
  const caption = make("figcaption", {}, shape.title, make("br"), make("small", { textContent: `${shape.kind}: ${shape.about}` + (shape.line ? `, line ${shape.line}` : "") }));
  return linked(make("figure", {}, caption, canvas), shape.line);
};

// Tables.
const table = (title, head, rows) => {
  const body = make("tbody");
  for (const { cells, line, bad } of rows) {
    body.append(linked(make("tr", {}, ...cells.map((cell, place) => make("td", { className: bad === place ? "bad" : "" }, String(cell ?? "–")))), line));
  }
  const header = make("tr", {}, ...head.map(text => make("th", { textContent: text })));
  return make("div", {}, make("h3", { textContent: title }), make("table", {}, make("thead", {}, header), body));
};
const unhide = (id, ...nodes) => {
  const section = $(id);
  section.hidden = false;
  (section.querySelector(".tables, .plot, #gallery") || section).append(...nodes);
};
const conflicts = () => {
  if (data.conflicts.length) {
    unhide("conflicts", table("Predicted from the layouts of copies", ["line", "op", "", "shared memory", "ways", "better"],
      data.conflicts.map(row => ({ line: row.line, bad: row.ways > 1 ? 4 : -1, cells: [row.line, row.op, row.what, row.layout, row.ways, row.better] }))));
  }
  if (data.run_conflicts?.length) {
    unhide("conflicts", table("In the run, by line of the source", ["line", "instruction", "executed", "ways of the slowest"],
      data.run_conflicts.map(row => ({ line: row.line, bad: row.ways > 1 ? 3 : -1, cells: [row.line, row.op, row.accesses, row.ways] }))));
  }
};
const resources = () => {
  if (data.resources?.length) {
    unhide("resources", table("By ptxas, for each target that runs it", ["target", "registers", "spilled bytes", "shared memory", "threads", "CTAs an SM", "bound by", "occupancy"],
      data.resources.map(row => ({ bad: row.spills ? 2 : -1, cells: [row.target, row.registers, row.spills, row.shared, row.threads, row.ctas, row.bound,
        row.occupancy === undefined ? null : `${Math.round(100 * row.occupancy)} %`] }))));
  }
  const roof = data.roofline;
  if (roof?.chip) {
    const us = time => `${time.toPrecision(3)} µs`;
    unhide("resources", table(`Roofline of the run on ${roof.chip}`, ["flop", "bytes asked of global memory", "flop/byte", "ridge", "tensor cores", "memory", "bound by", "the model's first CTAs"],
      [{ cells: [roof.flops.toLocaleString(), roof.bytes.toLocaleString(), roof.intensity?.toFixed(1), roof.ridge.toFixed(0), us(roof.compute_us), us(roof.memory_us), roof.bound, us(roof.model_us)] }]));
  }
};

// Plots of memory over instructions.
const svg = (tag, fields, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(fields)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
};
const hover = (node, text, line) => {
  node.addEventListener("pointermove", event => { tip(event, text); if (line != null) light(line); });
  node.addEventListener("pointerleave", () => tip());
  if (line != null) node.addEventListener("click", () => light(line, true));
  return node;
};
const MARKS = { read: "#2a78d6", write: "#d6662a", copy: "#1f9d6b", multiply: "#8a4fd3", mbarrier: "#8a8a96" };
const memory = () => {
  const map = data.shared;
  if (!map?.regions.length) return;
  const width = 1400, row = 26, left = 170, plot = svg("svg", { viewBox: `0 0 ${width} ${map.regions.length * row + 24}` });
  const x = position => left + (width - left - 14) * position / Math.max(map.ops, 1);
  map.regions.forEach((region, number) => {
    const y = 8 + number * row, places = region.accesses.map(access => access.at);
    plot.append(svg("text", { x: 8, y: y + 14 }, `${region.first} + ${region.bytes}`));
    if (!places.length) return;
    const from = x(Math.min(...places)), to = x(Math.max(...places));
    const about = `bytes ${region.first} to ${region.first + region.bytes - 1}${region.line ? `, line ${region.line}` : ""}\n${places.length} accesses, instructions ${Math.min(...places)} to ${Math.max(...places)}`;
    plot.append(hover(svg("rect", { x: from - 3, y, width: Math.max(to - from, 1) + 6, height: row - 8, rx: 3, fill: colour(4 * number), stroke: "#8888" }), about, region.line));
    for (const access of region.accesses) {
      plot.append(hover(svg("rect", { x: x(access.at) - 1.5, y: y + 2, width: 3, height: row - 12, fill: MARKS[access.kind] }), `${access.op}: ${access.kind}, line ${access.line}`, access.line));
    }
  });
  const legend = make("p", { className: "legend" }, ...Object.entries(MARKS).map(([kind, fill]) => key(fill, kind)));
  unhide("memory", plot, make("p", { className: "hint", textContent: `${map.bytes} bytes in all.` }), legend);
};
const key = (fill, text) => {
  const swatch = make("b");
  swatch.style.background = fill;
  return make("span", {}, swatch, text);
};
const columns = () => {
  if (!data.columns) return;
  const plot = make("div", { innerHTML: data.columns });
  for (const node of plot.querySelectorAll("rect > title")) {
    const rect = node.parentNode, line = rect.dataset.line;
    hover(rect, node.textContent, line === undefined ? null : Number(line));
    node.remove();
  }
  unhide("columns", plot);
};

// The timeline: a row for each warp, one for each kind of what it has in flight.
const KINDS = { run: "#4f86d9", wait: "#e0a3a0", tma: "#1f9d6b", "cp.async": "#1f9d6b", "cp.async.bulk": "#6bbf59", wgmma: "#8a4fd3", tcgen05: "#8a4fd3",
  "tensor core of a quarter": "#8a4fd3", "tcgen05.wait.ld": "#d6662a", "tcgen05.wait.st": "#d6a02a" };
const called = kind => kind === "tensor core of a quarter" ? "tensor core" : kind;
const unpacked = async text => {
  const bytes = new Blob([Uint8Array.from(atob(text), letter => letter.charCodeAt(0))]);
  return new Response(bytes.stream().pipeThrough(new DecompressionStream("deflate"))).json();
};
const timeline = () => {
  const run = data.timeline;
  if (!run?.tracks.length) return;
  $("timeline").hidden = false;
  $("clock").textContent = `${run.cycles.toLocaleString()} cycles of the latency model, ${run.blocks.length} of ${data.grid.toLocaleString()} CTAs (--ctas, or "ctas" of run). The wheel zooms, dragging moves; a click lights the line up.`;
  const canvas = $("timeline").querySelector("canvas"), HIGH = 15, shown = new Set([0]);
  let tracks = [];
  const choose = () => tracks = run.tracks.filter(track => shown.has(track.cta));
  run.blocks.forEach((block, cta) => {
    const button = make("button", { textContent: `CTA ${block}`, ariaPressed: String(!cta) });
    button.addEventListener("click", () => {
      button.ariaPressed = String(shown.delete(cta) ? false : !!shown.add(cta));
      choose();
      draw();
    });
    if (run.blocks.length > 1) $("ctas").append(button);
  });
  choose();
  const reach = events => {  // to where the events up to each reach
    let end = 0;
    return { events, ends: events.map(event => end = Math.max(end, event[1] + event[2])) };
  };
  const load = async part => {
    part.loading = true;
    Object.assign(part, reach(await unpacked(part.text)));
    draw();
  };
  // The lists of events that are to be drawn: of the whole the longest, where it is zoomed to all.
  const lists = track => {
    if ((to - from) / (width - left) > run.grain && track.whole.length) return [track.reach ||= reach(track.whole)];
    const parts = track.parts.filter(part => part.from <= to && part.to >= from);
    parts.forEach(part => part.loading || load(part));
    return parts.every(part => part.events) ? parts : [track.reach ||= reach(track.whole)];
  };
  const first = (ends, time) => {  // the first event that none before reaches beyond
    let low = 0, high = ends.length;
    while (low < high) { const middle = (low + high) >> 1; ends[middle] < time ? low = middle + 1 : high = middle; }
    return low;
  };
  const left = 230;
  let from = 0, to = run.cycles, width = 0;
  const x = time => left + (time - from) / (to - from) * (width - left);
  const draw = () => {
    width = $("timeline").clientWidth - 40;
    const pen = context(canvas, width, tracks.length * HIGH + 22), text = css("--text"), dim = css("--dim"), line = css("--line");
    tracks.forEach((track, number) => {
      const y = 20 + number * HIGH;
      if (number && tracks[number - 1].cta !== track.cta) { pen.fillStyle = line; pen.fillRect(0, y - 1, width, 1); }
      pen.fillStyle = dim;
      pen.fillText(`CTA ${run.blocks[track.cta]} warp ${track.warp} ${called(track.flight)}`, 6, y + HIGH / 2, left - 10);
      let drawn = left;
      for (const { events, ends } of lists(track)) for (let number = first(ends, from); number < events.length; number++) {
        const [name, start, length, at] = events[number];
        if (start > to) break;
        if (start + length < from) continue;
        const begin = Math.max(x(start), left), end = Math.min(Math.max(x(start + length), begin + 0.7), width);
        if (end - drawn < 0.5 && end - begin < 1) continue;  // hundreds of these are one pixel
        drawn = end;
        pen.fillStyle = at !== null && at === lit ? text : KINDS[run.names[name][0]] || "#888";
        pen.fillRect(begin, y + 1, Math.max(end - begin - (end - begin > 3), 0.7), HIGH - 3);
        if (end - begin > 46) { pen.save(); pen.beginPath(); pen.rect(begin, y, end - begin - 3, HIGH); pen.clip(); pen.fillStyle = at === lit ? css("--back") : "#fff"; pen.fillText(run.names[name][1], begin + 3, y + HIGH / 2); pen.restore(); }
      }
    });
    const step = 10 ** Math.floor(Math.log10(Math.max((to - from) / 4, 1)));
    const every = step * ((to - from) / step > 16 ? 2 : 1);
    for (let time = Math.ceil(from / every) * every; time <= to; time += every) {
      pen.fillStyle = line;
      pen.fillRect(x(time), 16, 1, tracks.length * HIGH + 4);
      pen.fillStyle = dim;
      pen.fillText(time.toLocaleString(), x(time) + 3, 9);
    }
  };
  const at = event => {
    const box = canvas.getBoundingClientRect();
    const track = tracks[Math.floor((event.clientY - box.top - 20) / HIGH)], time = from + (event.clientX - box.left - left) / (width - left) * (to - from);
    const near = (to - from) / (width - left) * 2;
    return [time, track && lists(track).flatMap(list => list.events).findLast(each => each[1] <= time + near && each[1] + each[2] >= time - near)];
  };
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const [time] = at(event), factor = event.deltaY > 0 ? 1.25 : 0.8;
    const span = Math.min(Math.max((to - from) * factor, 20), run.cycles);
    from = Math.min(Math.max(time - (time - from) * span / (to - from), 0), run.cycles - span);
    to = from + span;
    draw();
  }, { passive: false });
  let held = null;
  canvas.addEventListener("pointerdown", event => { held = [event.clientX, from, to]; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", event => {
    if (held && Math.abs(event.clientX - held[0]) < 4) { const [, found] = at(event); if (found?.[3] != null) light(found[3], true); }
    held = null;
  });
  canvas.addEventListener("pointermove", event => {
    if (held && event.buttons) {
      const span = held[2] - held[1], moved = (event.clientX - held[0]) / (width - left) * span;
      from = Math.min(Math.max(held[1] - moved, 0), run.cycles - span);
      to = from + span;
      draw();
      return tip();
    }
    const [, found] = at(event);
    tip(event, found && `${run.names[found[0]][0] === "wait" ? "waits: " : ""}${run.names[found[0]][1]}\ncycle ${found[1].toLocaleString()}, ${found[2].toLocaleString()} cycles${found[3] === null ? "" : `, line ${found[3]}`}`);
  });
  canvas.addEventListener("pointerleave", () => tip());
  const kinds = [...new Set(run.names.map(([kind]) => kind))];
  $("kinds").append(...kinds.map(kind => key(KINDS[kind] || "#888", called(kind))));
  listeners.push(show => show && draw());
  redraws.push(draw);
};

const redraw = () => redraws.forEach(draw => draw());
const start = () => {
  $("title").append(make("small", { textContent: ` ${data.name}${data.kernel ? ` @${data.kernel}` : ""}, ${data.arch}` }));
  document.title = `${data.name}: tilewright report`;
  for (const text of data.errors) unhide("errors", make("pre", { textContent: text }));
  const first = levels();
  timeline();
  memory();
  conflicts();
  columns();
  resources();
  for (const { html, line } of data.descriptors || []) {
    const box = make("figure");
    box.innerHTML = html;  // our own tables
    unhide("pictures", linked(box, line));
  }
  if (data.pictures.length) unhide("pictures", ...data.pictures.map(picture));
  for (const section of document.querySelectorAll("section")) {
    if (!section.hidden) $("contents").append(make("a", { href: `#${section.id}`, textContent: section.querySelector("h2").textContent }));
  }
  $("theme").addEventListener("click", () => {
    const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    redraw();
  });
  addEventListener("resize", redraw);
  redraw();
  if (data.line) light(data.line);
  first.seek();
};
start();
