/** The site of `npm run docs`: which pages it has, in which order, under which titles; examples as pages of code. */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Converter, DefaultTheme, MinimalSourceFile, ReflectionKind, normalizePath } from 'typedoc';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Sections of the navigation. The README is the front page; the reference comes after these. */
const SECTIONS = {
  Guides: [
    'docs/install.md',
    'docs/layers.md',
    'docs/open_tables.md',
    'docs/disk_tables.md',
    'docs/optimizers.md',
    'docs/saving.md',
    'docs/keras.md',
    'docs/serving.md',
    'docs/onnx.md',
    'docs/serverless.md',
    'docs/python.md',
    'docs/browser.md',
    'docs/demo.md',
    'docs/personal.md',
    'docs/devices.md',
    'docs/cluster.md',
    'docs/tpu_embedding.md',
    'docs/precision.md',
    'docs/converter.md',
    'docs/data.md',
    'docs/retrieval.md',
    'docs/neighbours.md',
    'docs/preprocessing.md',
    'docs/custom_loops.md',
    'docs/tensorboard.md',
    'docs/capture.md',
    'docs/performance.md',
  ],
  Examples: [
    'docs/examples.md',
    'models/wide_and_deep/README.md',
    'models/matrix_factorization/README.md',
    'models/two_tower/README.md',
    'models/dlrm/README.md',
    'models/sasrec/README.md',
    'models/synthetic/README.md',
    'models/tpu_embedding/README.md',
    'models/demo/README.md',
    'models/personal/README.md',
    'models/per_layer/README.md',
  ],
  'More about it': [
    'docs/graph_ops.md',
    'docs/keras_table.md',
    'docs/benchmarks.md',
    'docs/benchmarks_run.md',
    'docs/benchmarks_run_avx2.md',
    'docs/architecture.md',
    'CONTRIBUTING.md',
    'docs/compatibility.md',
    'docs/releasing.md',
    'docs/licenses.md',
    'CHANGELOG.md',
  ],
};

const PAGES = Object.values(SECTIONS).flat();
const SCRIPTS = 'docs/examples';

/** Names that people import, for the entry files of the reference. */
const ENTRIES = { index: 'tfjs-embeddings', node: 'tfjs-embeddings/node' };

function checkComplete() {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  const missing = pages.filter((name) => !PAGES.includes(`docs/${name}`));
  if (missing.length > 0) throw new Error(`docs/theme/plugin.mjs has no section for ${missing.join(', ')}`);
}

/** The text of the first heading. */
function titleOf(text) {
  return /^# (.*)$/m.exec(text)[1].replaceAll('`', '');
}

/** What docs/examples.md calls each program, by its file. */
function scriptTitles() {
  const list = readFileSync(join(ROOT, 'docs/examples.md'), 'utf8');
  return new Map([...list.matchAll(/\[([^\]]+)\]\(examples\/([^)]+)\)/g)].map(([, title, file]) => [file, title]));
}

/** A program of docs/examples as a page, so that links to the file lead to readable code. */
function scriptPage(name, title) {
  const path = join(ROOT, SCRIPTS, name);
  const code = readFileSync(path, 'utf8');
  const language = extname(name).slice(1);
  const text = `# ${title}\n\n\`${SCRIPTS}/${name}\`\n\n\`\`\`${language}\n${code}\`\`\`\n`;
  return new MinimalSourceFile(text, normalizePath(path));
}

class SiteTheme extends DefaultTheme {
  buildNavigation(project) {
    const documents = new Map(project.documents.map((each) => [project.files.getReflectionPath(each), each]));
    const entryOf = (path) => {
      const document = documents.get(normalizePath(join(ROOT, path)));
      return { text: document.name, path: this.router.getFullUrl(document), kind: document.kind };
    };
    const scripts = readdirSync(join(ROOT, SCRIPTS)).map((name) => entryOf(`${SCRIPTS}/${name}`));
    const sections = Object.entries(SECTIONS).map(([text, pages]) => {
      const children = pages.map(entryOf);
      return {
        text,
        children: text === 'Examples' ? [...children, { text: 'Short programs', children: scripts }] : children,
      };
    });
    const reference = super.buildNavigation(project).filter(({ kind }) => kind !== ReflectionKind.Document);
    sections.splice(2, 0, { text: 'Reference', children: reference });
    return sections;
  }
}

/** @param {import('typedoc').Application} app - The application that makes the site. */
export function load(app) {
  checkComplete();
  app.renderer.defineTheme('site', SiteTheme);
  app.converter.on(Converter.EVENT_BEGIN, (context) => {
    const titles = scriptTitles();
    for (const name of readdirSync(join(ROOT, SCRIPTS))) {
      if (!titles.has(name)) throw new Error(`docs/examples.md does not list ${name}`);
      app.converter.addDocument(context.project, scriptPage(name, titles.get(name)), titles.get(name));
    }
  });
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    document.name = titleOf(document.content.map(({ text }) => text).join(''));
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) {
      if (module.kindOf(ReflectionKind.Module)) module.name = ENTRIES[module.name] ?? module.name;
    }
  });
}
