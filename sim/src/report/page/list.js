// The list of events: only the rows that are seen are in the page.

const LIST_ROW_HEIGHT = 24;
const ROWS_BEYOND = 6;

class EventList {
  constructor(onSelect, onOpen) {
    this.element = document.getElementById("list");
    this.count = document.getElementById("count");
    this.onSelect = onSelect;
    this.onOpen = onOpen;
    this.spacer = element("div", { class: "spacer", role: "presentation" });
    this.element.append(this.spacer);
    this.draw = oncePerFrame(() => this.drawNow());
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.press(event));
    this.element.addEventListener("click", (event) => {
      const row = event.target.closest("[data-event]");
      if (row !== null) {
        this.onSelect(Number(row.dataset.event));
      }
    });
    new ResizeObserver(() => this.filter && this.draw()).observe(this.element);
  }

  show(trace, filter) {
    Object.assign(this, { trace, filter, selected: null });
    this.refresh();
  }

  /** After the filter has changed. */
  refresh() {
    const { rows } = this.filter;
    this.spacer.style.height = `${rows.length * LIST_ROW_HEIGHT}px`;
    const { skipped } = this.trace;
    const note = skipped > 0 ? `, without the first ${skipped.toLocaleString("en")}` : "";
    const all = counted(this.trace.length, "event") + note;
    this.count.textContent = rows.length === this.trace.length ? all : `${rows.length.toLocaleString("en")} of ${all}`;
    this.drawNow();
  }

  select(index, isRevealed = true) {
    this.selected = index;
    const place = this.filter.place(index);
    const top = place * LIST_ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.element;
    if (isRevealed && top < scrollTop + LIST_ROW_HEIGHT) {
      this.element.scrollTop = top - 2 * LIST_ROW_HEIGHT;
    } else if (isRevealed && top > scrollTop + clientHeight - 2 * LIST_ROW_HEIGHT) {
      this.element.scrollTop = top - clientHeight + 3 * LIST_ROW_HEIGHT;
    }
    this.drawNow();
  }

  drawNow() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(Math.floor(scrollTop / LIST_ROW_HEIGHT) - ROWS_BEYOND, 0);
    const last = Math.min(Math.ceil((scrollTop + clientHeight) / LIST_ROW_HEIGHT) + ROWS_BEYOND, this.filter.rows.length);
    const drawn = [];
    for (let place = first; place < last; place += 1) {
      drawn.push(this.row(place));
    }
    this.spacer.replaceChildren(...drawn);
    const active = document.getElementById(`event-${this.selected}`);
    if (active === null) {
      this.element.removeAttribute("aria-activedescendant");
    } else {
      this.element.setAttribute("aria-activedescendant", active.id);
    }
  }

  row(place) {
    const index = this.filter.rows[place];
    const { trace } = this;
    const row = element("div", {
      "role": "option", "id": `event-${index}`, "data-event": index, "class": `event of-${trace.category(index).id}`,
      "aria-selected": String(index === this.selected),
      "aria-setsize": this.filter.rows.length, "aria-posinset": place + 1,
    },
    element("span", { class: "when" }, trace.clock(index)), " ",
    element("span", { class: "where" }, trace.host(index)), " ",
    element("span", { class: "what" }, trace.type(index)), " ",
    element("span", { class: "data" }, trace.summary(index)));
    row.style.transform = `translateY(${place * LIST_ROW_HEIGHT}px)`;
    return row;
  }

  press(event) {
    const page = Math.max(Math.floor(this.element.clientHeight / LIST_ROW_HEIGHT) - 1, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) {
      event.preventDefault();
      this.step(steps[event.key]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.onOpen();
    }
  }

  /** Selects the event so many rows further. */
  step(count) {
    const { rows } = this.filter;
    if (rows.length === 0) {
      return;
    }
    const here = this.selected === null ? -1 : this.filter.place(this.selected);
    const place = Math.min(Math.max(here + count, 0), rows.length - 1);
    this.onSelect(rows[place]);
  }
}
