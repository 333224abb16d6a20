// Drawing what takes time: lanes, lives of hosts, calls with their attempts, operations, and the rest.

const BAR_HEIGHT = 15;
/** Below this width a span is a line, and those that stand in one pixel are drawn once. */
const WIDTH_MIN = 2;
const LABEL_WIDTH_MIN = 16;

/** The part of a run that a picture shows. */
function stretchOf(scale, view, width) {
  const margin = 8 / view.pixels;
  const first = Math.max(scale.firstAt(view.start - margin) - 1, 0);
  const last = Math.min(scale.firstAt(view.start + width / view.pixels + margin), scale.places.length - 1);
  return { first, last };
}

function drawLanes(painter, picture) {
  for (const lane of picture.lanes) {
    const y = picture.y(lane);
    if (lane.number % 2 === 1) {
      painter.context.fillStyle = painter.theme.stripe;
      painter.context.fillRect(0, y, painter.width, lane.height);
    }
    painter.line(0, y + lane.height - 0.5, painter.width, y + lane.height - 0.5, painter.theme.line);
  }
}

function drawLives(painter, picture) {
  for (const lane of picture.lanes) {
    drawLivesOf(painter, picture, lane, picture.y(lane) + HEAD_HEIGHT / 2);
  }
}

function drawLivesOf(painter, picture, lane, y) {
  const { places } = picture.scale;
  if (lane.lives.length === 0) {
    painter.line(0, y, painter.width, y, painter.theme.line);
    return;
  }
  for (const life of lane.lives) {
    const from = Math.max(painter.x(places[life.from]), 0);
    const to = Math.min(painter.x(places[life.to]), painter.width);
    if (to > from) {
      painter.line(from, y, to, y, painter.theme.life, 2, life.state === "paused" ? [2, 4] : []);
    }
  }
}

function drawSpans(painter, picture) {
  for (const lane of picture.lanes) {
    lane.rows.forEach((spans, row) => {
      const y = picture.y(lane) + HEAD_HEIGHT + row * ROW_HEIGHT;
      if (y + ROW_HEIGHT >= AXIS_HEIGHT && y <= painter.height) {
        drawRow(painter, picture, spans, y);
      }
    });
  }
}

function drawRow(painter, picture, spans, y) {
  const { first, last } = picture.stretch;
  let drawn = -Infinity;
  for (let place = firstSpan(spans, first); place < spans.length && spans[place].from <= last; place += 1) {
    const span = spans[place];
    if (!picture.filter.showsKind(span.from)) {
      continue;
    }
    const box = boxOf(painter, picture, span);
    if (box.width < WIDTH_MIN && Math.floor(box.x) === drawn) {
      continue;
    }
    drawn = Math.floor(box.x);
    painter.context.globalAlpha = picture.filter.matches(span) ? 1 : 0.22;
    drawSpan(painter, picture, span, { ...box, y });
    painter.context.globalAlpha = 1;
  }
}

/** The first span of a row that may be seen: they do not overlap. */
function firstSpan(spans, first) {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].from < first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return Math.max(low - 1, 0);
}

/** Where a span is. What takes no time has the room of its event. */
function boxOf(painter, picture, span) {
  const { places } = picture.scale;
  const from = painter.x(places[span.from]);
  const to = painter.x(span.until === undefined ? places[span.to] : picture.scale.ofTime(span.until));
  const least = span.from === span.to && picture.scale.mode === "events" ? Math.min(painter.view.pixels * 0.8, 60) : 1;
  return { x: from, width: Math.max(to - from, least, 1) };
}

function drawSpan(painter, picture, span, box) {
  const { theme } = painter;
  if (box.width < WIDTH_MIN) {
    painter.bar(box.x, box.y, Math.max(box.width, 1), BAR_HEIGHT, theme[span.kind]);
    return;
  }
  const isReplayed = span.state === "replayed" || span.state === "cached";
  drawBody(painter, span, box, isReplayed);
  drawParts(painter, picture, span, box);
  const isBad = ["error", "lost", "refused", "unknown", "failed", "cancelled"].includes(span.state);
  if (isBad) {
    painter.outline(box.x, box.y, box.width, BAR_HEIGHT, theme.failure, span.state === "error" ? [] : [3, 2]);
  }
  const room = Math.min(box.x + box.width, painter.width) - Math.max(box.x, 0) - 8;
  if (room >= LABEL_WIDTH_MIN) {
    const label = isReplayed ? `↻ ${span.label}` : span.label;
    painter.text(label, Math.max(box.x, 0) + 5, box.y + BAR_HEIGHT / 2 + 0.5, room, theme.ink);
  }
}

function drawBody(painter, span, box, isReplayed) {
  const { context, theme } = painter;
  const alpha = context.globalAlpha;
  if (span.kind === "call" && span.state === "wait") {
    return;
  }
  context.globalAlpha = alpha * (isReplayed ? 0.12 : 0.26);
  painter.bar(box.x, box.y, box.width, BAR_HEIGHT, theme[span.kind]);
  context.globalAlpha = alpha;
  if (isReplayed || span.state === "open") {
    painter.outline(box.x, box.y, box.width, BAR_HEIGHT, theme[span.kind], [3, 2]);
  } else {
    painter.bar(box.x, box.y, Math.min(3, box.width), BAR_HEIGHT, theme[span.kind]);
  }
}

function drawParts(painter, picture, span, box) {
  const { context, theme } = painter;
  const { places } = picture.scale;
  const alpha = context.globalAlpha;
  for (const part of span.parts) {
    const from = painter.x(places[part.from]);
    const end = part.until === undefined ? places[part.to] : Math.max(picture.scale.ofTime(part.until), places[part.to]);
    const width = Math.max(painter.x(end) - from, 1);
    if (from > painter.width || from + width < 0) {
      continue;
    }
    const style = PARTS[part.kind];
    context.globalAlpha = alpha * style.alpha;
    const colour = theme[style.colour];
    context.fillStyle = style.hatched ? painter.hatched(colour) : colour;
    context.fillRect(from, box.y + style.top, width, style.height);
    context.globalAlpha = alpha;
  }
}

const PARTS = {
  attempt: { colour: "attempt", top: 0, height: BAR_HEIGHT, alpha: 0.42 },
  backoff: { colour: "backoff", top: 0, height: BAR_HEIGHT, alpha: 0.7, hatched: true },
  approval: { colour: "approval", top: 0, height: BAR_HEIGHT, alpha: 0.8, hatched: true },
  execute: { colour: "operation", top: 0, height: BAR_HEIGHT, alpha: 0.22 },
  commit: { colour: "operation", top: BAR_HEIGHT - 3, height: 3, alpha: 0.9 },
};
