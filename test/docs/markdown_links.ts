/** Links of Markdown pages, and the anchors that their headings have on GitHub. */

export interface PageLink {
  /** '' for an anchor of the same page. */
  readonly path: string;
  /** '' for none. */
  readonly anchor: string;
}

/** Code is left out: what looks like a link there is an array or a call. */
function withoutCode(text: string): string {
  return text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');
}

/** Links of a page to files beside it and to anchors; those to other sites are left out. */
export function linksOf(text: string): PageLink[] {
  const targets = [...withoutCode(text).matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target!);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path, anchor] = target.split('#');
      return { path: path!, anchor: anchor ?? '' };
    });
}

export function anchorsOf(text: string): string[] {
  const headings = [...text.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
