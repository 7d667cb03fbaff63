/** Names of Keras as TensorFlow.js takes them: letters, digits and a few signs of ASCII, of which the first is no sign. */

const ALLOWED = /[-A-Za-z0-9._/]/;
const FIRST = /^[A-Za-z0-9]/;

/** The same name where TensorFlow.js takes it. A space becomes `_`, any other letter its number: `Gr.f6.sse_in_cm`. */
export function tensorName(name: string): string {
  const letters = Array.from(name, (letter) => {
    if (ALLOWED.test(letter)) return letter;
    return letter === ' ' ? '_' : `.${letter.codePointAt(0)!.toString(16)}.`;
  }).join('');
  return FIRST.test(letters) ? letters : `n${letters}`;
}

/** The names that are to be: each once, where some became alike. */
export function tensorNames(names: readonly string[]): Map<string, string> {
  const taken = new Set(names.filter((name) => tensorName(name) === name));
  return new Map(
    names.map((name) => {
      let own = tensorName(name);
      if (own === name) return [name, name];
      for (let i = 1; taken.has(own); i++) own = `${tensorName(name)}_${i}`;
      taken.add(own);
      return [name, own];
    }),
  );
}
