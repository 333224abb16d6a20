// A canvas with the page's colours and the timeline's places.

const FONT = '11px ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const COLOURS = [
  "ink", "muted", "faint", "line", "panel", "stripe", "activation", "program", "operation", "model", "call", "attempt",
  "backoff", "approval", "network", "life", "effect", "fault", "failure", "accent",
];

/** The colours of the page, as its style sheet gives them for light and dark. */
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** Fits a canvas to its element, in the pixels of the screen. */
function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  return context;
}

/** Everything that drawing one picture of the timeline takes. */
class Painter {
  constructor(context, theme, view, size) {
    this.context = context;
    this.theme = theme;
    this.view = view;
    this.width = size.width;
    this.height = size.height;
    this.patterns = new Map();
  }

  /** Where a place of the scale is on the canvas. */
  x(place) {
    return (place - this.view.start) * this.view.pixels;
  }

  bar(x, y, width, height, colour) {
    this.context.fillStyle = colour;
    this.context.beginPath();
    this.context.roundRect(x, y, width, height, Math.min(3, width / 2));
    this.context.fill();
  }

  outline(x, y, width, height, colour, dash = []) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.setLineDash(dash);
    context.beginPath();
    context.roundRect(x + 0.5, y + 0.5, Math.max(width - 1, 1), height - 1, Math.min(3, width / 2));
    context.stroke();
    context.setLineDash([]);
  }

  line(x1, y1, x2, y2, colour, width = 1, dash = []) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    context.setLineDash([]);
  }

  shape(points, colour) {
    const { context } = this;
    context.fillStyle = colour;
    context.beginPath();
    points.forEach(([x, y], place) => (place === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.closePath();
    context.fill();
  }

  dot(x, y, radius, colour) {
    this.context.fillStyle = colour;
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fill();
  }

  /** Text that ends where its room does. */
  text(text, x, y, room, colour) {
    const fitting = this.fitted(text, room);
    if (fitting !== "") {
      this.context.fillStyle = colour;
      this.context.fillText(fitting, x, y);
    }
  }

  fitted(text, room) {
    const whole = this.context.measureText(text).width;
    if (whole <= room) {
      return text;
    }
    const count = Math.floor((text.length * room) / whole) - 1;
    return count < 2 ? "" : `${text.slice(0, count)}…`;
  }

  /** Slanted lines of a colour, for what only waits. */
  hatched(colour) {
    let pattern = this.patterns.get(colour);
    if (pattern === undefined) {
      const tile = document.createElement("canvas");
      tile.width = 6;
      tile.height = 6;
      const context = tile.getContext("2d");
      context.strokeStyle = colour;
      context.lineWidth = 1.4;
      for (const shift of [-6, 0, 6]) {
        context.beginPath();
        context.moveTo(shift - 1, 7);
        context.lineTo(shift + 7, -1);
        context.stroke();
      }
      pattern = this.context.createPattern(tile, "repeat");
      this.patterns.set(colour, pattern);
    }
    return pattern;
  }
}
