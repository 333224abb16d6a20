// The whole run in a strip: how dense its events are, its faults and failures, and what part the timeline shows.

const OVERVIEW_HEIGHT = 34;

class Overview {
  constructor(onPlace) {
    this.canvas = document.getElementById("overview");
    this.onPlace = onPlace;
    this.counted = null;
    let isDown = false;
    const go = (event) => this.scale && this.onPlace(this.placeAt(event.offsetX));
    this.canvas.addEventListener("pointerdown", (event) => {
      isDown = true;
      this.canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    this.canvas.addEventListener("pointermove", (event) => isDown && go(event));
    this.canvas.addEventListener("pointerup", () => (isDown = false));
  }

  placeAt(x) {
    return this.scale.start + (x / this.width) * this.scale.length;
  }

  x(place) {
    return ((place - this.scale.start) / this.scale.length) * this.width;
  }

  draw(timeline, theme) {
    this.scale = timeline.scale;
    this.width = this.canvas.parentElement.clientWidth;
    const context = fitCanvas(this.canvas, this.width, OVERVIEW_HEIGHT);
    const { densities, signs } = this.count(timeline);
    const most = Math.max(...densities, 1);
    context.fillStyle = theme.faint;
    densities.forEach((density, column) => {
      const height = density === 0 ? 0 : 3 + (OVERVIEW_HEIGHT - 14) * Math.sqrt(density / most);
      context.fillRect(column, OVERVIEW_HEIGHT - height, 1, height);
    });
    for (const [column, colour] of signs) {
      context.fillStyle = theme[colour];
      context.fillRect(column - 1, 0, 3, colour === "failure" ? OVERVIEW_HEIGHT : 7);
    }
    this.drawBrush(context, theme, timeline);
  }

  drawBrush(context, theme, { view, width }) {
    const from = Math.max(this.x(view.start), 0);
    const to = Math.min(this.x(view.start + width / view.pixels), this.width);
    context.fillStyle = theme.accent;
    context.globalAlpha = 0.12;
    context.fillRect(from, 0, to - from, OVERVIEW_HEIGHT);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.strokeRect(from + 0.5, 0.5, Math.max(to - from - 1, 2), OVERVIEW_HEIGHT - 1);
  }

  /** What stands in each column of pixels, counted again when something else is shown. */
  count({ trace, scale, filter }) {
    const key = [trace, scale, filter.version, this.width];
    if (this.counted === null || key.some((part, place) => part !== this.counted.key[place])) {
      this.counted = { key, ...this.countColumns(trace, scale, filter) };
    }
    return this.counted;
  }

  countColumns(trace, scale, filter) {
    const densities = new Uint32Array(Math.ceil(this.width) + 1);
    const signs = new Map();
    for (let index = 0; index < trace.length; index += 1) {
      if (filter.shown[index]) {
        const column = Math.floor(this.x(scale.places[index]));
        densities[column] += 1;
        const { id } = trace.category(index);
        const isSign = id === "failure" || trace.type(index) === "fault.delivered";
        if (isSign && signs.get(column) !== "failure") {
          signs.set(column, id);
        }
      }
    }
    return { densities, signs };
  }
}
