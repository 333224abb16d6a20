// The timeline: what part of a run is seen, and how it is moved.

const VIEW_HEIGHT_MAX = 440;
/** How many pixels an event has at the most, and how many a run of many events gives each at first. */
const PIXELS_MAX = 160;
const PIXELS_AT_FIRST = 14;
const EVENTS_FITTED_MAX = 400;
const HIT_DISTANCE = 9;

class Timeline {
  constructor(onSelect) {
    this.canvas = document.getElementById("canvas");
    this.viewport = document.getElementById("viewport");
    this.tip = document.getElementById("tip");
    this.overview = new Overview((place) => this.centre(place));
    this.onSelect = onSelect;
    this.selected = null;
    this.draw = oncePerFrame(() => this.drawNow());
    this.theme = readTheme();
    this.listen();
  }

  show(trace, layout, filter) {
    Object.assign(this, { trace, layout, filter, selected: null });
    this.rescale("events");
    showHosts(layout);
    this.fit();
  }

  rescale(mode) {
    this.scale = new Scale(this.trace, mode);
    this.view = { start: 0, pixels: 1 };
  }

  get width() {
    return this.canvas.parentElement.clientWidth - this.canvas.offsetLeft;
  }

  get height() {
    return Math.min(this.layout.height + AXIS_HEIGHT + FOOT_HEIGHT, VIEW_HEIGHT_MAX);
  }

  /** A little room at both ends, so that the first and the last event are seen whole. */
  get room() {
    return 16;
  }

  get pixelsFitted() {
    return Math.max(this.width - 2 * this.room, 10) / this.scale.length;
  }

  fit() {
    this.setView(this.scale.start, this.pixelsFitted);
  }

  /** The whole of a short run; of a long one, what is near an event. */
  begin(index) {
    this.fit();
    if (this.trace.length > EVENTS_FITTED_MAX && this.scale.mode === "events") {
      this.view.pixels = PIXELS_AT_FIRST;
      this.centre(this.scale.places[index ?? 0]);
    }
  }

  setView(start, pixels) {
    const { scale } = this;
    const most = scale.mode === "events" ? PIXELS_MAX : this.width * 1e9;
    this.view.pixels = Math.min(Math.max(pixels, this.pixelsFitted), Math.max(most, this.pixelsFitted));
    const room = this.room / this.view.pixels;
    const latest = scale.end + room - this.width / this.view.pixels;
    this.view.start = Math.max(Math.min(start, latest), scale.start - room);
    this.isWhole = this.view.pixels <= this.pixelsFitted;
    this.draw();
  }

  centre(place) {
    this.setView(place - this.width / this.view.pixels / 2, this.view.pixels);
  }

  zoom(factor, x = this.width / 2) {
    const place = this.view.start + x / this.view.pixels;
    const pixels = Math.max(this.view.pixels * factor, this.pixelsFitted);
    this.setView(place - x / pixels, pixels);
  }

  move(pixels) {
    this.setView(this.view.start + pixels / this.view.pixels, this.view.pixels);
  }

  select(index) {
    this.selected = index;
    const place = this.scale.places[index];
    const x = (place - this.view.start) * this.view.pixels;
    if (x < 20 || x > this.width - 20) {
      this.centre(place);
    }
    this.reveal(this.layout.lanes[this.layout.laneOf[index]]);
    this.draw();
  }

  reveal(lane) {
    const { scrollTop } = this.viewport;
    const room = this.height - AXIS_HEIGHT - FOOT_HEIGHT;
    if (lane.top < scrollTop) {
      this.viewport.scrollTop = lane.top;
    } else if (lane.top + HEAD_HEIGHT * 2 > scrollTop + room) {
      this.viewport.scrollTop = lane.top + Math.min(lane.height, room) - room;
    }
  }

  drawNow() {
    const size = { width: this.width, height: this.height };
    const context = fitCanvas(this.canvas, size.width, size.height);
    const painter = new Painter(context, this.theme, this.view, size);
    const picture = this.picture(size);
    const pauses = pausesOf(painter, picture);
    drawLanes(painter, picture);
    drawPauses(painter, pauses);
    drawLives(painter, picture);
    drawSpans(painter, picture);
    drawMessages(painter, picture);
    drawEvents(painter, picture);
    drawSelection(painter, picture);
    drawAxis(painter, picture);
    drawFoot(painter, pauses);
    this.overview.draw(this, this.theme);
  }

  picture({ width, height }) {
    const { trace, layout, filter, scale, selected } = this;
    const top = AXIS_HEIGHT - this.viewport.scrollTop;
    const y = (lane) => lane.top + top;
    const lanes = layout.lanes.filter((lane) => y(lane) < height && y(lane) + lane.height > 0);
    const laneOf = (index) => layout.lanes[layout.laneOf[index]];
    return { trace, layout, filter, scale, selected, lanes, y, laneOf, stretch: stretchOf(scale, this.view, width) };
  }

  /** The event at a point of the canvas. */
  eventAt(x, y) {
    const inLanes = y - AXIS_HEIGHT + this.viewport.scrollTop;
    const lane = this.layout.lanes.find(({ top, height }) => inLanes >= top && inLanes < top + height);
    if (lane === undefined || y < AXIS_HEIGHT || y > this.height - FOOT_HEIGHT) {
      return null;
    }
    const row = Math.floor((inLanes - lane.top - HEAD_HEIGHT) / ROW_HEIGHT);
    const spans = row >= 0 ? lane.rows[row] : undefined;
    return (spans && this.spanAt(spans, x)) ?? this.markAt(lane, x);
  }

  spanAt(spans, x) {
    const painter = new Painter(null, this.theme, this.view, { width: this.width, height: this.height });
    const place = this.view.start + x / this.view.pixels;
    for (let number = firstSpan(spans, this.scale.firstAt(place)); number >= 0; number -= 1) {
      const span = spans[number];
      const box = boxOf(painter, this, span);
      if (x >= box.x - 2 && x <= box.x + box.width + 2) {
        const part = span.parts.findLast(({ from }) => this.scale.places[from] <= place);
        return part?.from ?? span.from;
      }
      if (box.x + box.width < x) {
        break;
      }
    }
    return null;
  }

  /** The nearest event of a lane; one with a sign of its own before others. */
  markAt(lane, x) {
    const { first, last } = stretchOf(this.scale, this.view, this.width);
    let found = null;
    let least = HIT_DISTANCE;
    forShown({ stretch: { first, last }, filter: this.filter }, lane.events, (index) => {
      const distance = Math.abs((this.scale.places[index] - this.view.start) * this.view.pixels - x);
      const weighed = SIGNS[this.trace.type(index)] === undefined ? distance : distance - 4;
      if (distance < HIT_DISTANCE && weighed < least) {
        found = index;
        least = weighed;
      }
    });
    return found;
  }

  listen() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, moved: 0 };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag === null) {
        this.hover(event);
        return;
      }
      const distance = drag.x - event.clientX;
      drag.moved += Math.abs(distance);
      drag.x = event.clientX;
      this.move(distance);
    });
    canvas.addEventListener("pointerup", (event) => {
      const isClick = drag !== null && drag.moved < 4;
      drag = null;
      const index = isClick ? this.eventAt(event.offsetX, event.offsetY) : null;
      if (index !== null) {
        this.onSelect(index);
      }
    });
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("wheel", (event) => this.turn(event), { passive: false });
    this.viewport.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.resize()).observe(this.viewport);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.theme = readTheme();
      this.draw();
    });
  }

  /** What was seen whole stays so. */
  resize() {
    if (this.trace !== undefined) {
      this.setView(this.view.start, this.isWhole ? 0 : this.view.pixels);
    }
  }

  turn(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), event.offsetX);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.move(event.deltaX || event.deltaY);
    }
  }

  hover(event) {
    const index = this.eventAt(event.offsetX, event.offsetY);
    this.canvas.style.cursor = index === null ? "grab" : "pointer";
    this.tip.hidden = index === null;
    if (index === null) {
      return;
    }
    this.tip.textContent = `${this.trace.type(index)}  ${this.trace.clock(index)} s\n${this.trace.summary(index)}`;
    const box = this.viewport.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const isRight = x > box.width / 2;
    this.tip.style.left = isRight ? "auto" : `${x + 14}px`;
    this.tip.style.right = isRight ? `${box.width - x + 14}px` : "auto";
    this.tip.style.top = `${y + this.viewport.scrollTop + 14}px`;
  }
}

/** The names of the lanes, beside the canvas. */
function showHosts(layout) {
  const hosts = document.getElementById("hosts");
  hosts.replaceChildren(...layout.lanes.map((lane) => {
    const item = element("li", { title: lane.host }, element("span", {}, lane.host),
      element("small", {}, counted(lane.events.length, "event")));
    item.style.top = `${lane.top + AXIS_HEIGHT}px`;
    item.style.height = `${lane.height}px`;
    return item;
  }));
  document.getElementById("lanes").style.height = `${layout.height + AXIS_HEIGHT + FOOT_HEIGHT}px`;
  document.getElementById("viewport").style.maxHeight = `${VIEW_HEIGHT_MAX}px`;
}
