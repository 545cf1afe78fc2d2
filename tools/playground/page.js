"use strict";
const $ = (id) => document.getElementById(id);
const START = `!a = !cute_nvgpu.fragment<8xbf16, "((4,8),(2,2,2)):((32,1),(16,8,128))">
!b = !cute_nvgpu.fragment<4xbf16>
!c = !cute_nvgpu.fragment<4xf32>
func.func @mma(%x: bf16, %y: bf16, %out: memref<?xf32>) attributes {gpu.kernel} {
  %lane = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %zero = arith.constant 0.0 : f32
  %a = cute_nvgpu.fragment.splat %x : bf16 -> !a
  %b = cute_nvgpu.fragment.splat %y : bf16 -> !b
  %c = cute_nvgpu.fragment.splat %zero : f32 -> !c
  %d = cute_nvgpu.sm80.mma %a, %b, %c <16x8x16, elem_type = (bf16, bf16, f32)> : (!a, !b, !c) -> !c
  %d0 = cute_nvgpu.fragment.extract %d[0] : !c -> f32
  memref.store %d0, %out[%lane] : memref<?xf32>
  func.return
}
`;
let name = "kernel.mlir";

// The server's answer to a question; null where a later one of its kind was asked meanwhile.
const latest = {};
async function ask(question, fields, kind = question) {
  const mine = (latest[kind] = (latest[kind] || 0) + 1);
  $("status").textContent = "…";
  try {
    const headers = { "Content-Type": "application/json" };
    const reply = await fetch(question, { method: "POST", headers, body: JSON.stringify(fields) });
    if (latest[kind] !== mine) return null;
    if (!reply.ok) throw new Error(await reply.text());
    $("status").textContent = "";
    return await reply.json();
  } catch (error) {
    if (latest[kind] === mine) $("status").textContent = String(error.message).trim();
    return null;
  }
}

function later(action, pause = 250) {
  let timer = 0;
  return () => { clearTimeout(timer); timer = setTimeout(action, pause); };
}

function element(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text }, properties);
}

function picture(svg, alt) {
  return element("img", "", { src: "data:image/svg+xml," + encodeURIComponent(svg), alt });
}

function show(place, pictures) {
  place.replaceChildren(...pictures.map(({ title, svg }) => {
    const figure = element("figure", "");
    figure.append(svg ? picture(svg, title) : element("figcaption", title));
    return figure;
  }));
}

// Diagnostics: a mark behind the text, and a list that leads to it.
function mark(diagnostics) {
  const text = $("text").value, parts = [];
  let end = 0;
  for (const one of [...diagnostics].sort((x, y) => x.start - y.start)) {
    if (one.start < end) continue;
    parts.push(text.slice(end, one.start), element("mark", text.slice(one.start, one.end)));
    end = one.end;
  }
  $("marks").replaceChildren(...parts, text.slice(end) + "\n");
  $("numbers").textContent = text.split("\n").map((_, number) => number + 1).join("\n") + "\n";
  $("link").href = "#" + packed(text);
  $("diagnostics").replaceChildren(...diagnostics.map((one) => {
    const ahead = text.slice(0, one.start).split("\n");
    const where = `${ahead.length}:${ahead[ahead.length - 1].length + 1}`;
    const button = element("button", `${where}: ${one.message}`);
    button.onclick = () => { $("text").focus(); $("text").setSelectionRange(one.start, one.end); };
    const item = element("li", "");
    item.append(button);
    return item;
  }));
  scrollTogether();
}

function scrollTogether() {
  $("marks").scrollTop = $("text").scrollTop;
  $("marks").scrollLeft = $("text").scrollLeft;
  $("numbers").scrollTop = $("text").scrollTop;
}

// The lines of the level that are of the line of the cursor.
let lines = [], lowered = false;
function light() {
  const at = $("text").value.slice(0, $("text").selectionStart).split("\n").length;
  const rows = [...$("level").children];
  rows.forEach((row, number) => row.classList.toggle("lit", lines[number] === at));
  rows[lines.indexOf(at)]?.scrollIntoView({ block: "nearest" });
}

// A link that holds the text.
const packed = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const unpacked = (words) => new TextDecoder().decode(Uint8Array.from(atob(words), (one) => one.charCodeAt(0)));

const document_ = () => ({ text: $("text").value, name, arch: $("arch").value });

async function check() {
  const answer = await ask("check", document_());
  if (answer) mark(answer.diagnostics || []);
}

async function lower() {
  lowered = true;
  const chosen = $("levels").querySelector("[aria-selected=true]")?.textContent;
  const answer = await ask("levels", { ...document_(), arch: $("arch").value || "sm_90a" });
  if (!answer) return;
  if (answer.diagnostics) mark(answer.diagnostics);
  const levels = answer.levels || [];
  const tabs = levels.map((level) => {
    const tab = element("button", level.name);
    tab.setAttribute("role", "tab");
    tab.onclick = () => {
      for (const other of tabs) other.setAttribute("aria-selected", other === tab);
      lines = level.lines;
      $("level").replaceChildren(...level.text.split(/(?<=\n)/).map((line) => element("div", line)));
      light();
    };
    return tab;
  });
  $("levels").replaceChildren(...tabs);
  $("level").textContent = answer.error || "";
  (tabs.find((tab) => tab.textContent === chosen) || tabs[tabs.length - 1])?.click();
}

// Markdown of a hover: pictures, code and text.
async function aboutCursor() {
  const offset = String($("text").selectionStart);
  const answer = await ask("about", { ...document_(), offset });
  if (!answer) return;
  const parts = (answer.markdown || answer.error || "").split(/(!\[.*?\]\(data:[^)]*\)|```\w*\n[^]*?\n```)/);
  $("about").replaceChildren(...parts.filter((part) => part.trim()).map((part) => {
    const image = /^!\[(.*?)\]\((data:image\/svg\+xml;base64,[^)]*)\)$/.exec(part);
    if (image) return element("img", "", { src: image[2], alt: image[1] });
    const code = /^```\w*\n([^]*)\n```$/.exec(part);
    return element(code ? "pre" : "p", code ? code[1] : part.trim());
  }));
}

async function operate() {
  const fields = { operation: $("operation").value, a: $("a").value, b: $("b").value };
  const answer = await ask("layout", fields);
  if (!answer) return;
  $("wrong").textContent = answer.error ? `${answer.field || ""}: ${answer.error}` : "";
  $("result").textContent = answer.result || "";
  show($("pictures"), answer.pictures || []);
}

async function explain() {
  const answer = await ask("instruction", { mnemonic: $("mnemonic").value, arch: $("arch").value });
  if (!answer) return;
  $("illegal").textContent = answer.error || "";
  $("explanation").textContent = answer.text || "";
  show($("fragments"), answer.pictures || []);
}

const VIEWS = { ir: check, layouts: operate, instruction: explain };

function view(chosen) {
  for (const id of Object.keys(VIEWS)) $(id).hidden = id !== chosen;
  for (const tab of document.querySelectorAll("nav button"))
    tab.setAttribute("aria-selected", tab.dataset.view === chosen);
  VIEWS[chosen]();
}

async function open() {
  if (!$("file").value) return;
  const reply = await fetch("file?name=" + encodeURIComponent($("file").value));
  if (!reply.ok) { $("status").textContent = await reply.text(); return; }
  name = $("file").value;
  $("text").value = (await reply.json()).text;
  mark([]);
  check();
}

async function start() {
  const setup = await (await fetch("setup")).json();
  $("version").textContent = setup.version;
  $("arch").append(element("option", "any", { value: "" }), ...setup.targets.map((one) => element("option", one)));
  $("operation").append(...setup.operations.map((one) => element("option", one)));
  $("operation").value = "zipped_divide";
  $("file").append(...setup.files.map((one) => element("option", one)));
  $("open").hidden = !setup.files.length;
  $("text").value = location.hash.length > 1 ? unpacked(location.hash.slice(1)) : START;
  const lowerSoon = later(() => { if (lowered) lower(); }, 600);
  const checkSoon = later(check), aboutSoon = later(aboutCursor);
  $("text").addEventListener("input", () => { mark([]); checkSoon(); lowerSoon(); });
  $("text").addEventListener("scroll", scrollTogether);
  document.addEventListener("selectionchange", () => { if (document.activeElement === $("text")) { aboutSoon(); light(); } });
  $("lower").onclick = lower;
  $("file").onchange = open;
  $("arch").onchange = () => VIEWS[Object.keys(VIEWS).find((id) => !$(id).hidden)]();
  for (const id of ["a", "b", "operation"]) $(id).addEventListener("input", later(operate));
  $("reuse").onclick = () => { if ($("result").textContent) { $("a").value = $("result").textContent; operate(); } };
  $("mnemonic").addEventListener("input", later(explain));
  for (const form of document.forms) form.onsubmit = () => false;
  for (const tab of document.querySelectorAll("nav button")) tab.onclick = () => view(tab.dataset.view);
  view("ir");
}
start();
