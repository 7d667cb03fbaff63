/** Lines in an SVG. */

export interface Line {
  readonly name: string;
  /** [share of the memory, AUC] */
  readonly points: readonly (readonly [number, number])[];
}

export interface Chart {
  /** What the picture says, for those who do not see it. */
  readonly label: string;
  readonly lines: readonly Line[];
  /** A height that all lines are compared with. */
  readonly limit: { readonly name: string; readonly auc: number };
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [760, 320, 60, 190, 20, 44];
const COLORS = ['#80cbc4', '#ffb74d', '#90caf9', '#f48fb1', '#c5e1a5'];
const STEP = 0.01;

/** Names at the ends of lines, moved apart where they would lie on each other. */
function places(heights: readonly number[]): number[] {
  const order = [...heights.keys()].sort((a, b) => heights[a]! - heights[b]!);
  const placed = [...heights];
  let last = -Infinity;
  for (const i of order) last = placed[i] = Math.max(heights[i]!, last + 15);
  return placed;
}

/** A chart as the text of an SVG: shares of memory from left to right, each tick twice or more the one before. */
export function svgOf({ label, lines, limit }: Chart): string {
  const shares = lines[0]!.points.map(([share]) => share);
  const aucs = [limit.auc, ...lines.flatMap(({ points }) => points.map(([, auc]) => auc))];
  const low = Math.floor(Math.min(...aucs) / STEP) * STEP;
  const high = Math.ceil(Math.max(...aucs) / STEP) * STEP;
  const x = (share: number): number => {
    const [first, last] = [shares[0]!, shares.at(-1)!];
    return LEFT + (Math.log(share / first) / Math.log(last / first)) * (WIDTH - LEFT - RIGHT);
  };
  const y = (auc: number): number => TOP + ((high - auc) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const text = (at: readonly [number, number], fill: string, anchor: string, content: string): string => {
    return `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" fill="${fill}" text-anchor="${anchor}">${content}</text>`;
  };
  const parts: string[] = [];
  const ticks = Math.round((high - low) / STEP);
  for (let tick = 0; tick <= ticks; tick += ticks > 6 ? 2 : 1) {
    const auc = low + tick * STEP;
    parts.push(`<path d="M${LEFT} ${y(auc).toFixed(1)}H${WIDTH - RIGHT}" stroke="#37474f"/>`);
    parts.push(text([LEFT - 8, y(auc) + 4], '#b0bec5', 'end', auc.toFixed(2)));
  }
  for (const share of shares)
    parts.push(text([x(share), HEIGHT - BOTTOM + 20], '#b0bec5', 'middle', `${share * 100} %`));
  parts.push(text([x(shares[0]!), HEIGHT - 6], '#b0bec5', 'start', 'bytes, of those that all keys would take'));
  parts.push(text([LEFT - 8, TOP - 6], '#b0bec5', 'end', 'AUC'));
  const limitY = y(limit.auc).toFixed(1);
  parts.push(`<path d="M${LEFT} ${limitY}H${WIDTH - RIGHT}" stroke="#eceff1" stroke-dasharray="4 4"/>`);
  const names = places([limit.auc, ...lines.map(({ points }) => points.at(-1)![1])].map((auc) => y(auc) + 4));
  parts.push(text([WIDTH - RIGHT + 10, names[0]!], '#eceff1', 'start', limit.name));
  lines.forEach(({ name, points }, i) => {
    const color = COLORS[i]!;
    const path = points.map(([share, auc]) => `${x(share).toFixed(1)} ${y(auc).toFixed(1)}`).join('L');
    parts.push(`<path d="M${path}" fill="none" stroke="${color}" stroke-width="2"/>`);
    for (const [share, auc] of points) {
      parts.push(`<circle cx="${x(share).toFixed(1)}" cy="${y(auc).toFixed(1)}" r="3" fill="${color}"/>`);
    }
    parts.push(text([WIDTH - RIGHT + 10, names[i + 1]!], color, 'start', name));
  });
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`;
  const font = 'font-family="Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="12"';
  return [
    `${head} ${font} role="img" aria-label="${label}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="#263238"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
