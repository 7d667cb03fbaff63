// The guides are open in the navigation until the reader closes them.
const { localStorage: kept } = globalThis;
try {
  if (kept.getItem('tsd-accordion-Guides') === null) kept.setItem('tsd-accordion-Guides', 'true');
} catch {
  // Pages without storage begin with all sections closed.
}
