/** The spec files that are likely to notice a change of a source: those that import it or speak of it, near and quick ones first. */
import { specsFor } from '../../test/changes/changed_specs.js';
import { ImportGraph } from '../../test/changes/import_graph.js';
import { needsOf, recordedSeconds, specFiles } from '../../test/runner/spec_files.js';
import { specFilesOf } from './rooms.js';

/** What takes minutes to be made, in each sandbox. */
const TOO_LONG = ['python', 'packages'] as const;

export class SpecsNear {
  private readonly graph: ImportGraph;
  private readonly seconds = recordedSeconds();
  private readonly found = new Map<string, readonly string[]>();

  /** `most`: the seconds of those that are looked into for one source. */
  constructor(
    private readonly root: string,
    private readonly most: number,
  ) {
    this.graph = ImportGraph.of(root);
  }

  of(source: string): readonly string[] {
    if (!this.found.has(source)) {
      const allowed = new Set(specFilesOf(this.root));
      const specs = specFiles().filter(
        (each) => allowed.has(each.name) && !TOO_LONG.some((need) => needsOf(each).has(need)),
      );
      const { files } = specsFor([source], specs, this.graph, this.seconds, this.most);
      this.found.set(
        source,
        files.map(({ name }) => name),
      );
    }
    return this.found.get(source)!;
  }
}
