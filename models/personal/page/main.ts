/** The page of a personal model: what is clicked, and what follows from it. */
import { wrap } from 'comlink';
import { byId, element, table, tableRow } from '../../page/elements.js';
import { attempt, say } from '../../page/status.js';
import '../../page/style.css';
import type { Item, PersonalEngine } from './protocol.js';

const FOUND = 12;
const BEST = 20;

const engine = wrap<PersonalEngine>(new Worker('worker.js', { type: 'module' }));
let chosen: readonly Item[] = [];

async function choose(next: readonly Item[]): Promise<void> {
  chosen = await engine.choose(next.map(({ id }) => id));
  byId<HTMLInputElement>('find').value = '';
  byId('chosen').replaceChildren(...chosen.map((item) => buttonOf(item, `Remove ${item.name}`, () => without(item))));
  byId('none').hidden = chosen.length > 0;
  await Promise.all([recommend(), search()]);
}

const without = (item: Item): Promise<void> => choose(chosen.filter(({ id }) => id !== item.id));

function buttonOf(item: Item, ariaLabel: string, use: () => Promise<void>): HTMLButtonElement {
  const button = element('button', { type: 'button', textContent: item.name, ariaLabel });
  button.addEventListener('click', () => void attempt('Folding in', use));
  return button;
}

const addButton = (item: Item): HTMLButtonElement =>
  buttonOf(item, `Like ${item.name}`, () => choose([...chosen, item]));

async function search(): Promise<void> {
  const found = await engine.find(byId<HTMLInputElement>('find').value, FOUND + chosen.length);
  const others = found.filter(({ id }) => !chosen.some((item) => item.id === id)).slice(0, FOUND);
  byId('found').replaceChildren(...others.map(addButton));
}

async function recommend(): Promise<void> {
  const place = byId('best');
  if (chosen.length === 0) return place.replaceChildren();
  const ids = chosen.map(({ id }) => id);
  const { best, ms } = await engine.recommend(ids, BEST);
  const rows = best.map((item) => tableRow(addButton(item), ['score', item.score.toFixed(3)]));
  place.replaceChildren(table('Recommended', ['Recommended', 'Score'], rows));
  byId('took').textContent = `Your row and the best ${BEST} took ${ms.toFixed(1)} ms.`;
}

byId('find').addEventListener('input', () => void search());
byId('forget').addEventListener('click', () => void attempt('Forgetting', () => choose([])));

await attempt('Opening the items', async () => {
  const opened = await engine.open();
  byId('about').textContent = `${opened.count.toLocaleString('en')} items with ${opened.dim} numbers each, as int8. `;
  await choose(opened.chosen);
  say('Ready');
});
