/** The model as a file, and forgetting it. */
import { byId, element } from '../../page/elements.js';

export class ModelSection {
  constructor(actions: {
    readonly download: () => void;
    readonly load: (file: File) => void;
    readonly forget: () => void;
  }) {
    byId('download').addEventListener('click', actions.download);
    byId('forget').addEventListener('click', actions.forget);
    const input = byId<HTMLInputElement>('model-file');
    input.addEventListener('change', () => {
      const file = input.files!.item(0);
      input.value = '';
      if (file !== null) actions.load(file);
    });
  }

  set hasModel(hasModel: boolean) {
    byId<HTMLButtonElement>('download').disabled = !hasModel;
  }

  set hasAnything(hasAnything: boolean) {
    byId<HTMLButtonElement>('forget').disabled = !hasAnything;
  }

  /** Hands a file to the visitor. */
  give(blob: Blob, name: string): void {
    const href = URL.createObjectURL(blob);
    element('a', { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }
}
