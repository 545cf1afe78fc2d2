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
const SCRIPTS = {
  "Python: cuTile": `import cuda.tile as ct
import numpy as np


@ct.kernel
def add(a, b, c, TILE: ct.Constant[int]):
    i = ct.bid(0)
    tile = ct.load(a, (i,), (TILE,)) + ct.load(b, (i,), (TILE,))
    ct.store(c, (i,), tile)


a, b, c = np.arange(256, dtype=np.float32), np.ones(256, np.float32), np.zeros(256, np.float32)
ct.launch(None, (2,), add, (a, b, c, 128))
print(c)
`,
  "Python: Triton": `import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, inside) + tl.load(y + i, inside), inside)


x, y, out = np.arange(200, dtype=np.float32), np.ones(200, np.float32), np.zeros(200, np.float32)
add[(2,)](x, y, out, 200, BLOCK=128)
print(out)
`,
};
// What a text is, by what only such a text has.
const language = (text) => /^\s*\.version\b/m.test(text) ? "ptx" : /^\s*(import|from|def)\s/m.test(text) ? "py" : "mlir";

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

function picture(svg, alt) {
  return make("img", { src: "data:image/svg+xml," + encodeURIComponent(svg), alt });
}

function show(place, pictures) {
  place.replaceChildren(...pictures.map(({ title, svg }) => {
    return make("figure", {}, svg ? picture(svg, title) : make("figcaption", { textContent: title }));
  }));
}

// The text lies on a pane with its colours, its lines and what is wrong with it.
const editor = pane(), level = pane();
let said = {};  // the diagnostics of the text, by who says them
function mark(kind, answer) {
  if (kind) said[kind] = answer.diagnostics || [];
  const places = new Map(Object.values(said).flat().map((one) => [`${one.start} ${one.message}`, one]));
  const diagnostics = [...places.values()].sort((one, other) => one.start - other.start);
  const text = $("text").value, lines = text.split("\n").map((_, number) => number + 1);
  editor.set({ text, lines }, language(text), diagnostics.map((one) => [one.start, one.end, "wrong"]));
  $("link").href = "#" + packed(text);
  $("diagnostics").replaceChildren(...diagnostics.map((one) => {
    const ahead = text.slice(0, one.start).split("\n");
    const where = `${ahead.length}:${ahead[ahead.length - 1].length + 1}`;
    const button = make("button", { textContent: `${where}: ${one.message}` });
    button.onclick = () => { column("text"); $("text").focus(); $("text").setSelectionRange(one.start, one.end); };
    return make("li", {}, button);
  }));
  scrollTogether();
}

function scrollTogether() {
  editor.scroll.scrollTop = $("text").scrollTop;
  editor.scroll.scrollLeft = $("text").scrollLeft;
}

// The lines of the level that are of the line of the cursor.
const cursor = () => light($("text").value.slice(0, $("text").selectionStart).split("\n").length, editor.scroll);

// A link that holds the text.
const packed = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const unpacked = (words) => new TextDecoder().decode(Uint8Array.from(atob(words), (one) => one.charCodeAt(0)));

const document_ = () => ({ text: $("text").value, name: `kernel.${language($("text").value)}`, arch: $("arch").value });

async function check() {
  const answer = await ask("check", document_());
  if (answer) mark("check", answer);
}

// Where there is one column, which of the two it is.
function column(name) {
  $("ir").dataset.column = name;
  for (const tab of $("columns").children) tab.setAttribute("aria-selected", tab.dataset.column === name);
  editor.draw();
  level.draw();
}

let levels = [], chosen = "PTX";
function choose(title) {
  chosen = title;
  for (const tab of $("levels").children) tab.setAttribute("aria-selected", tab.textContent === title);
  level.set(levels.find((one) => one.name === title) || { name: "run", text: "", lines: [] });
  cursor();
}

function showLevels(answer, title) {
  levels = answer.levels || [];
  if (answer.error) levels.push({ name: "error", text: answer.error, lines: [] });
  $("for").textContent = answer.for ?? $("for").textContent;
  // Tabs that are the same stay: one of them may be pressed just now.
  const titles = levels.map((one) => one.name);
  if (titles.join() !== [...$("levels").children].map((tab) => tab.textContent).join()) {
    $("levels").replaceChildren(...titles.map((title) => {
      const tab = make("button", { textContent: title, onclick: () => choose(title) });
      tab.setAttribute("role", "tab");
      return tab;
    }));
  }
  choose(levels.some((one) => one.name === title) ? title : levels[levels.length - 1]?.name);
}

const ofRun = (one) => one.name === "run" || one.name === "error";
const isPython = () => language($("text").value) === "py";
async function lower() {
  const answer = await ask("levels", document_());
  if (!answer) return;
  mark("levels", answer);
  showLevels({ ...answer, levels: [...answer.levels || [], ...levels.filter(ofRun)] }, chosen);
}

async function run() {
  const python = isPython();
  const answer = await (python ? ask("script", document_(), "run") : ask("run", { ...document_(), arguments: $("arguments").value }));
  if (!answer) return;
  mark("run", answer);
  if (!python) {
    $("arguments").value = answer.arguments || "";
    answer.levels = [...levels.filter((one) => !ofRun(one)), ...answer.levels || []];
  }
  showLevels(answer, answer.error ? "error" : "run");
}

// What is known of the text without running it.
function look() {
  check();
  if (!isPython()) lower();
}

// Markdown of a hover: pictures, code and text.
async function aboutCursor() {
  const offset = String($("text").selectionStart);
  const answer = await ask("about", { ...document_(), offset });
  if (!answer) return;
  const parts = (answer.markdown || answer.error || "").split(/(!\[.*?\]\(data:[^)]*\)|```\w*\n[^]*?\n```)/);
  $("about").replaceChildren(...parts.filter((part) => part.trim()).map((part) => {
    const image = /^!\[(.*?)\]\((data:image\/svg\+xml;base64,[^)]*)\)$/.exec(part);
    if (image) return make("img", { src: image[2], alt: image[1] });
    const code = /^```\w*\n([^]*)\n```$/.exec(part);
    return make(code ? "pre" : "p", { textContent: code ? code[1] : part.trim() });
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

const VIEWS = { ir: look, layouts: operate, instruction: explain };

function view(chosen) {
  for (const id of Object.keys(VIEWS)) $(id).hidden = id !== chosen;
  for (const tab of document.querySelectorAll("nav button"))
    tab.setAttribute("aria-selected", tab.dataset.view === chosen);
  VIEWS[chosen]();
}

async function open() {
  const chosen = $("file").value;
  if (!chosen) return;
  let text = SCRIPTS[chosen];
  if (!text) {
    const reply = await fetch("file?name=" + encodeURIComponent(chosen));
    if (!reply.ok) { $("status").textContent = await reply.text(); return; }
    text = (await reply.json()).text;
  }
  $("file").value = $("arguments").value = "";
  $("text").value = text;
  levels = [];
  showLevels({ for: "" });
  edited();
}

// The text is another one: its colours at once, what is wrong with it and its levels soon.
const soon = later(look);
function edited() {
  // What is on its way is about the text before.
  for (const kind of ["check", "levels", "run"]) latest[kind] = (latest[kind] || 0) + 1;
  said = {};
  mark();
  soon();
}

async function start() {
  const setup = await (await fetch("setup")).json();
  $("version").textContent = setup.version;
  languages = setup.languages;
  $("editor").prepend(editor.scroll);
  $("level").append(level.scroll);
  const options = (names) => names.map((one) => make("option", { textContent: one }));
  $("arch").append(make("option", { textContent: "any", value: "" }), ...options(setup.targets));
  $("operation").append(...options(setup.operations));
  $("operation").value = "zipped_divide";
  $("file").append(...options([...setup.files, ...Object.keys(SCRIPTS).filter(() => setup.python)]));
  $("open").hidden = !setup.files.length;
  $("text").value = location.hash.length > 1 ? unpacked(location.hash.slice(1)) : START;
  mark();
  const aboutSoon = later(aboutCursor);
  $("text").addEventListener("input", edited);
  editor.scroll.addEventListener("scroll", () => { $("text").scrollTop = editor.scroll.scrollTop; });
  $("text").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("tools").requestSubmit(); });
  $("text").addEventListener("scroll", scrollTogether);
  document.addEventListener("selectionchange", () => { if (document.activeElement === $("text")) { aboutSoon(); cursor(); } });
  $("lower").onclick = () => { column("levels"); chosen = chosen === "run" ? "PTX" : chosen; isPython() ? run() : lower(); };
  for (const tab of $("columns").children) tab.onclick = () => column(tab.dataset.column);
  addEventListener("resize", () => column($("ir").dataset.column));
  $("file").onchange = open;
  $("arch").onchange = () => VIEWS[Object.keys(VIEWS).find((id) => !$(id).hidden)]();
  for (const id of ["a", "b", "operation"]) $(id).addEventListener("input", later(operate));
  $("reuse").onclick = () => { if ($("result").textContent) { $("a").value = $("result").textContent; operate(); } };
  $("mnemonic").addEventListener("input", later(explain));
  for (const form of document.forms) form.onsubmit = () => false;
  $("tools").onsubmit = () => { column("levels"); run(); return false; };
  for (const tab of document.querySelectorAll("nav button")) tab.onclick = () => view(tab.dataset.view);
  view("ir");
}
start();
