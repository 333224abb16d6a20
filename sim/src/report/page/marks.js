// Drawing what takes no time: the axis, messages, events, faults, and what is selected.

const AXIS_HEIGHT = 26;
/** The foot says how long pauses are. */
const FOOT_HEIGHT = 20;
const TICK_ROOM = 92;
/** More messages than this are not told apart. */
const MESSAGES_MAX = 4000;
/** A pause that is wider is named. */
const PAUSE_WIDTH_MIN = 26;

/** The events that have a sign of their own. */
const SIGNS = {
  "fault.delivered": { colour: "fault", draw: diamond },
  "world.healed": { colour: "life", draw: cross },
  "host.crashed": { colour: "failure", draw: ex },
  "host.power_cut": { colour: "failure", draw: ex },
  "host.started": { colour: "life", draw: wedge },
  "host.resumed": { colour: "life", draw: wedge },
  "host.paused": { colour: "muted", draw: twoBars },
  "effect.happened": { colour: "effect", draw: (painter, x, y, colour) => painter.dot(x, y, 4, colour) },
  "mark": { colour: "muted", draw: triangle },
  "approval.requested": { colour: "approval", draw: question },
  "approval.decided": { colour: "approval", draw: check },
  "link.cut": { colour: "fault", draw: ex },
  "assertion.failed": { colour: "failure", draw: flag },
  [FAILURE]: { colour: "failure", draw: flag },
};

function diamond(painter, x, y, colour) {
  painter.shape([[x, y - 6], [x + 6, y], [x, y + 6], [x - 6, y]], colour);
}

function triangle(painter, x, y, colour) {
  painter.shape([[x, y - 4], [x + 4, y + 4], [x - 4, y + 4]], colour);
}

function wedge(painter, x, y, colour) {
  painter.shape([[x, y - 5], [x + 6, y], [x, y + 5]], colour);
}

function ex(painter, x, y, colour) {
  painter.line(x - 4, y - 4, x + 4, y + 4, colour, 2);
  painter.line(x - 4, y + 4, x + 4, y - 4, colour, 2);
}

function cross(painter, x, y, colour) {
  painter.line(x - 5, y, x + 5, y, colour, 2);
  painter.line(x, y - 5, x, y + 5, colour, 2);
}

function twoBars(painter, x, y, colour) {
  painter.line(x - 2, y - 4, x - 2, y + 4, colour, 2);
  painter.line(x + 2, y - 4, x + 2, y + 4, colour, 2);
}

function question(painter, x, y, colour) {
  painter.dot(x, y, 5, colour);
  painter.dot(x, y, 2.5, painter.theme.panel);
}

function check(painter, x, y, colour) {
  painter.line(x - 4, y, x - 1, y + 4, colour, 2);
  painter.line(x - 1, y + 4, x + 5, y - 4, colour, 2);
}

function flag(painter, x, y, colour) {
  painter.line(x, y - 8, x, y + 9, colour, 2);
  painter.shape([[x, y - 8], [x + 10, y - 4], [x, y]], colour);
}

function drawAxis(painter, picture) {
  const { context, theme } = painter;
  context.fillStyle = theme.panel;
  context.fillRect(0, 0, painter.width, AXIS_HEIGHT);
  painter.line(0, AXIS_HEIGHT - 0.5, painter.width, AXIS_HEIGHT - 0.5, theme.line);
  if (picture.scale.mode === "time") {
    drawRoundTimes(painter);
  } else {
    drawTimesOfEvents(painter, picture);
  }
}

function drawRoundTimes(painter) {
  const least = TICK_ROOM / painter.view.pixels;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= least);
  const first = Math.ceil(painter.view.start / step);
  const count = Math.ceil(painter.width / painter.view.pixels / step) + 1;
  for (let number = first; number < first + count; number += 1) {
    const time = number * step;
    if (time >= 0) {
      tick(painter, painter.x(time), tickLabel(time, step));
    }
  }
}

function drawTimesOfEvents(painter, picture) {
  const { scale, stretch } = picture;
  let free = -Infinity;
  let previous = "";
  let time = null;
  for (let index = stretch.first; index <= stretch.last; index = nextAt(painter, scale, index, free)) {
    const x = painter.x(scale.places[index]);
    if (x >= -2 && x >= free && scale.times[index] !== time) {
      const label = timeLabel(scale.times[index], previous);
      const room = painter.context.measureText(label).width + 18;
      if (label !== previous && x + room < painter.width + 12) {
        tick(painter, x, label);
        previous = label;
        time = scale.times[index];
        free = x + Math.max(TICK_ROOM, room);
      }
    }
  }
}

/** Milliseconds, and more digits where they tell two labels apart. */
function timeLabel(time, previous) {
  const short = `${trimmed(time, 3)} s`;
  return short === previous ? `${trimmed(time, 6)} s` : short;
}

/** The next event that can have room for a label: thousands may stand in a few pixels. */
function nextAt(painter, scale, index, free) {
  return Math.max(index + 1, scale.firstAt(free / painter.view.pixels + painter.view.start));
}

function tick(painter, x, label) {
  painter.line(Math.round(x) + 0.5, AXIS_HEIGHT - 6, Math.round(x) + 0.5, AXIS_HEIGHT, painter.theme.faint);
  painter.text(label, x + 4, AXIS_HEIGHT / 2 - 1, TICK_ROOM + 30, painter.theme.muted);
}

function tickLabel(time, step) {
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step))));
  return step >= 60 ? duration(time) : `${time.toFixed(digits)} s`;
}

/** The pauses that the scale has shortened, where they have room. */
function pausesOf(painter, picture) {
  const { scale, stretch } = picture;
  const found = [];
  if (scale.mode === "time" || painter.view.pixels * PAUSE_STEP * 12 < PAUSE_WIDTH_MIN) {
    return found;
  }
  for (let index = Math.max(stretch.first, 1); index <= stretch.last; index += 1) {
    const from = painter.x(scale.places[index - 1]);
    const width = painter.x(scale.places[index]) - from;
    const pause = scale.times[index] - scale.times[index - 1];
    if (width >= PAUSE_WIDTH_MIN && pause >= 0.1) {
      found.push({ from, width, label: duration(pause) });
    }
  }
  return found;
}

function drawPauses(painter, pauses) {
  const { context, theme } = painter;
  context.globalAlpha = 0.3;
  context.fillStyle = theme.line;
  for (const { from, width } of pauses) {
    context.fillRect(from + 1, AXIS_HEIGHT, width - 2, painter.height - AXIS_HEIGHT - FOOT_HEIGHT);
  }
  context.globalAlpha = 1;
}

/** Below the lanes, whatever part of them is seen. */
function drawFoot(painter, pauses) {
  const { context, theme } = painter;
  const top = painter.height - FOOT_HEIGHT;
  context.fillStyle = theme.panel;
  context.fillRect(0, top, painter.width, FOOT_HEIGHT);
  painter.line(0, top + 0.5, painter.width, top + 0.5, theme.line);
  for (const { from, width, label } of pauses) {
    const room = context.measureText(label).width;
    if (room + 2 <= width) {
      painter.text(label, from + (width - room) / 2, top + FOOT_HEIGHT / 2, room + 1, theme.muted);
    }
  }
}

function drawMessages(painter, picture) {
  const { layout, stretch, filter } = picture;
  const messages = layout.messagesBetween(stretch.first, stretch.last);
  if (messages.length > MESSAGES_MAX) {
    return;
  }
  painter.context.globalAlpha = messages.length > 400 ? 0.35 : 0.75;
  for (const message of messages) {
    if (filter.shown[message.from] || filter.shown[message.to]) {
      const isSelected = picture.selected === message.from || picture.selected === message.to;
      drawMessage(painter, picture, message, isSelected);
    }
  }
  painter.context.globalAlpha = 1;
}

function drawMessage(painter, picture, { from, to }, isSelected) {
  const [x1, x2] = [from, to].map((index) => painter.x(picture.scale.places[index]));
  const [y1, y2] = [from, to].map((index) => picture.y(picture.laneOf(index)) + HEAD_HEIGHT / 2);
  const colour = isSelected ? painter.theme.accent : painter.theme.network;
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const tip = [x2 - 4 * Math.cos(angle), y2 - 4 * Math.sin(angle)];
  painter.line(x1, y1, ...tip, colour, isSelected ? 2 : 1);
  const wing = (turn) => [tip[0] - 6 * Math.cos(angle + turn), tip[1] - 6 * Math.sin(angle + turn)];
  painter.shape([tip, wing(0.4), wing(-0.4)], colour);
}

function drawEvents(painter, picture) {
  for (const lane of picture.lanes) {
    const y = picture.y(lane) + HEAD_HEIGHT / 2;
    if (y >= AXIS_HEIGHT - HEAD_HEIGHT && y <= painter.height + HEAD_HEIGHT) {
      drawTicks(painter, picture, lane, y);
      drawSigns(painter, picture, lane, y);
    }
  }
}

function drawTicks(painter, picture, lane, y) {
  const { context, theme } = painter;
  const { scale } = picture;
  context.strokeStyle = theme.faint;
  context.lineWidth = 1;
  context.beginPath();
  forShown(picture, lane.events, (index) => {
    const x = Math.floor(painter.x(scale.places[index])) + 0.5;
    context.moveTo(x, y - 3);
    context.lineTo(x, y + 4);
    // The next one that stands in another pixel.
    return scale.firstAt(painter.view.start + (x + 0.5) / painter.view.pixels);
  });
  context.stroke();
}

function drawSigns(painter, picture, lane, y) {
  const drawn = new Map();
  forShown(picture, lane.signs, (index) => {
    const type = picture.trace.type(index);
    const sign = SIGNS[type];
    const x = painter.x(picture.scale.places[index]);
    if (sign !== undefined && x - (drawn.get(type) ?? -Infinity) >= 4) {
      drawn.set(type, x);
      sign.draw(painter, x, y, painter.theme[sign.colour]);
    }
  });
}

/** The events of a list that the picture shows; what is done with one may say from which on the next is wanted. */
function forShown(picture, events, act) {
  const { stretch, filter } = picture;
  let place = firstAtLeast(events, stretch.first);
  while (place < events.length && events[place] <= stretch.last) {
    const next = filter.shown[events[place]] ? act(events[place]) : undefined;
    place += 1;
    if (next !== undefined && events[place] < next) {
      place = firstAtLeast(events, next);
    }
  }
}

function drawSelection(painter, picture) {
  const index = picture.selected;
  if (index === null) {
    return;
  }
  const x = painter.x(picture.scale.places[index]);
  const y = picture.y(picture.laneOf(index)) + HEAD_HEIGHT / 2;
  const { accent } = painter.theme;
  painter.line(x, AXIS_HEIGHT, x, painter.height, accent, 1, [3, 3]);
  painter.context.strokeStyle = accent;
  painter.context.lineWidth = 2;
  painter.context.beginPath();
  painter.context.arc(x, y, 9, 0, 2 * Math.PI);
  painter.context.stroke();
}
