// Pieces of the page. Text is only ever set as text: names may come from anywhere.

/** An element with its attributes, and what is in it. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") {
      made.addEventListener("click", value);
    } else if (value === true) {
      made.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children);
  return made;
}

/** A function that does this once before the next picture of the screen, however often it is called. */
function oncePerFrame(work) {
  let isAsked = false;
  return () => {
    if (!isAsked) {
      isAsked = true;
      requestAnimationFrame(() => {
        isAsked = false;
        work();
      });
    }
  };
}

function announce(text) {
  document.getElementById("announcer").textContent = text;
}

/** Copies text, and says so on the button that was asked. */
async function copy(text, button) {
  const isCopied = await writeClipboard(text);
  const before = button.textContent;
  button.textContent = isCopied ? "Copied" : "Select and copy it by hand";
  announce(button.textContent);
  setTimeout(() => (button.textContent = before), 1600);
}

async function writeClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** What browsers allow where they do not hand out the clipboard. */
function copyBySelection(text) {
  const area = element("textarea", { class: "unseen", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}

/** A line or block of text to take along. */
function copyable(label, text, isBlock = false) {
  const button = element("button", { type: "button", class: "copy", "aria-label": `Copy: ${label}` }, "Copy");
  button.addEventListener("click", () => copy(text, button));
  const code = element(isBlock ? "pre" : "code", { tabindex: isBlock ? 0 : null }, text);
  return element("div", { class: isBlock ? "copyable block" : "copyable" }, code, button);
}

/** A table with a heading for each column; numbers stand to the right. */
function table(caption, columns, rows) {
  const head = columns.map((column) => element("th", { scope: "col", class: column.isNumber ? "number" : null }, column.label));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell, place) => {
    const attributes = { class: columns[place].isNumber ? "number" : null };
    return place === 0 ? element("th", { scope: "row", ...attributes }, cell) : element("td", attributes, cell);
  })));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...body)));
}
