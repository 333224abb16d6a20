// Which events are shown.

class Filter {
  constructor(trace) {
    this.trace = trace;
    this.hidden = new Set();
    this.words = [];
    this.host = "";
    this.version = 0;
    this.shown = new Uint8Array(trace.length);
    this.apply();
  }

  apply() {
    const { trace } = this;
    const isHidden = CATEGORIES.map(({ id }) => this.hidden.has(id));
    for (let index = 0; index < trace.length; index += 1) {
      this.shown[index] = !isHidden[trace.categories[index]] && this.isWanted(index) ? 1 : 0;
    }
    this.version += 1;
    this.rows = Int32Array.from(this.indices());
  }

  *indices() {
    for (let index = 0; index < this.shown.length; index += 1) {
      if (this.shown[index]) {
        yield index;
      }
    }
  }

  isWanted(index) {
    if (this.host !== "" && this.trace.host(index) !== this.host) {
      return false;
    }
    return this.words.every((word) => this.trace.text(index).includes(word));
  }

  /** Words that must all be there. */
  search(text) {
    this.words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
    this.apply();
  }

  /** Whether what begins with an event is drawn at all. */
  showsKind(index) {
    return !this.hidden.has(this.trace.category(index).id);
  }

  /** Whether a span is one that is looked for. */
  matches(span) {
    return Boolean(this.shown[span.from] || this.shown[span.to] || span.parts.some(({ from }) => this.shown[from]));
  }

  /** Where an event stands among those that are shown, or would. */
  place(index) {
    return firstAtLeast(this.rows, index);
  }
}

/** The controls of the filter, and how many events of each kind there are. */
class FilterControls {
  constructor(onChange) {
    this.onChange = onChange;
    this.search = document.getElementById("search");
    this.host = document.getElementById("host");
    this.categories = document.getElementById("categories");
    let waiting = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.change((filter) => filter.search(this.search.value)), 60);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        this.search.value = "";
        this.change((filter) => filter.search(""));
      }
    });
    this.host.addEventListener("change", () => this.change((filter) => {
      filter.host = this.host.value;
      filter.apply();
    }));
  }

  change(act) {
    act(this.filter);
    this.onChange();
  }

  show(filter, layout) {
    this.filter = filter;
    this.search.value = "";
    const hosts = layout.lanes.map(({ host }) => element("option", { value: host }, host));
    this.host.replaceChildren(element("option", { value: "" }, "All hosts"), ...hosts);
    const counts = CATEGORIES.map(() => 0);
    filter.trace.categories.forEach((category) => (counts[category] += 1));
    const present = CATEGORIES.filter((_, place) => counts[place] > 0);
    this.categories.replaceChildren(...present.map((category) => this.chip(category, counts[CATEGORIES.indexOf(category)])));
  }

  chip({ id, label }, count) {
    const box = element("input", { type: "checkbox", checked: true, name: id });
    box.addEventListener("change", () => this.change((filter) => {
      filter.hidden[box.checked ? "delete" : "add"](id);
      filter.apply();
    }));
    return element("label", { class: `chip of-${id}` }, box, element("span", {}, label, " ", element("small", {}, count.toLocaleString("en"))));
  }
}
