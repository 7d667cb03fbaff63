/** Specs for classes whose instances every copy of the package knows, ESM and CommonJS. */

/** `classes` by the names under which they are marked. */
export function itKnowsOtherCopies(classes: Readonly<Record<string, unknown>>): void {
  for (const [name, cls] of Object.entries(classes)) {
    it(`${name} knows the instances of other copies of the package`, () => {
      const copy = { [Symbol.for(`tfjs-embeddings.${name}`)]: true };
      expect(copy instanceof (cls as typeof Object)).toBeTrue();
      expect({} instanceof (cls as typeof Object)).toBeFalse();
    });
  }
}
