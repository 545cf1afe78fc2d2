"use strict";
const $ = id => document.getElementById(id);
const make = (tag, fields = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), fields);
  node.append(...children);
  return node;
};
const NARROW = matchMedia("(max-width: 60rem)");  // where columns are tabs

// Lines that light up together: `lit` is a line of the source.
let lit = null;
const listeners = [];
const light = (line, show) => {
  if (line === lit && !show) return;
  lit = line;
  listeners.forEach(each => each(show));
};

// Tokens [begin, end, kind] of a text; `languages` are the patterns of Python's side.
let languages = {};
const tokens = (text, language) => {
  const [pattern, kinds] = languages[language] || [];
  if (!pattern) return [];
  return [...text.matchAll(new RegExp(pattern, "g"))].map(match =>
    [match.index, match.index + match[0].length, kinds[match.findIndex((group, place) => place && group !== undefined) - 1]]);
};
const LANGUAGES = { PTX: "ptx", Python: "py", SASS: "", run: "" };  // of levels, by name; others are IR

// A text with the numbers of its lines, of which only the rows in sight are in the document.
const HEIGHT = 18;
const pane = () => {
  const inner = make("div"), scroll = make("div", { className: "scroll" }, inner), shown = new Map();
  let texts = [], starts = [], spans = [], lines = [];
  const pieces = number => {
    const from = starts[number], to = from + texts[number].length, own = spans[number] || [];
    const cuts = [...new Set([from, to, ...own.flatMap(([begin, end]) => [Math.max(begin, from), Math.min(end, to)])])].sort((a, b) => a - b);
    return cuts.slice(1).map((end, place) => make("span", {
      className: own.filter(span => span[0] < end && span[1] > cuts[place]).map(span => span[2]).join(" "),
      textContent: texts[number].slice(cuts[place] - from, end - from),
    }));
  };
  const draw = () => {
    const first = Math.max(Math.floor(scroll.scrollTop / HEIGHT) - 8, 0);
    const last = Math.min(first + Math.ceil(scroll.clientHeight / HEIGHT) + 16, texts.length);
    for (const [number, row] of shown) if (number < first || number >= last) { row.remove(); shown.delete(number); }
    for (let number = first; number < last; number++) {
      if (shown.has(number)) continue;
      const line = lines[number] ?? null;
      const row = make("div", { className: line === null ? "row" : "row has" }, make("i", { textContent: number + 1 }), ...pieces(number));
      row.style.top = `${number * HEIGHT}px`;
      row.line = line;
      row.classList.toggle("lit", line !== null && line === lit);
      shown.set(number, row);
      inner.append(row);
    }
  };
  // Show a level, of which `marks` are [begin, end, class] as tokens are.
  const set = (level, language = LANGUAGES[level.name.split(" ").pop()] ?? "mlir", marks = []) => {
    texts = level.text.split("\n");
    lines = level.lines;
    let end = 0, widest = 0, number = 0;
    starts = texts.map(text => { const start = end; end += text.length + 1; widest = Math.max(widest, text.length); return start; });
    spans = [];
    for (const span of [...tokens(level.text, language), ...marks].sort((a, b) => a[0] - b[0])) {
      while (number + 1 < starts.length && starts[number + 1] <= span[0]) number++;
      for (let of = number; of < starts.length && starts[of] < span[1]; of++) (spans[of] ||= []).push(span);
    }
    inner.style.cssText = `height:${texts.length * HEIGHT}px;width:${widest + 8}ch`;
    shown.forEach(row => row.remove());
    shown.clear();
    draw();
  };
  const at = (event, show) => { const row = event.target.closest(".row"); if (row && row.line !== null) light(row.line, show); };
  scroll.addEventListener("scroll", draw);
  scroll.addEventListener("pointermove", event => at(event));
  scroll.addEventListener("click", event => at(event, scroll));
  const seek = () => {
    const number = lines.indexOf(lit), top = number * HEIGHT;
    if (number >= 0 && (top < scroll.scrollTop || top > scroll.scrollTop + scroll.clientHeight - HEIGHT)) {
      scroll.scrollTop = top - scroll.clientHeight / 3;
    }
  };
  listeners.push(show => {
    if (show && show !== scroll) seek();
    draw();
    shown.forEach(row => row.classList.toggle("lit", row.line !== null && row.line === lit));
  });
  return { scroll, set, draw, seek };
};
