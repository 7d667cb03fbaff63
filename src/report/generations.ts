/**
 * Published figures of TPU generations. Each figure has its source; what no source tells is null. Bandwidths are in
 * bytes per second; figures of a pod are those of the largest one.
 */

/** Where a figure is published. */
export interface FigureSource {
  readonly title: string;
  readonly url: string;
}

export interface Figure {
  /** null: not published, or not found. */
  readonly value: number | null;
  /** Where it stands, or where it was looked for. */
  readonly source: FigureSource;
  /** How the value was read from the source. */
  readonly note?: string;
}

export const FIGURE_NAMES = [
  'hbmBytes',
  'hbmBandwidth',
  'linkBandwidth',
  'links',
  'tensorCores',
  'sparseCores',
  'podChips',
] as const;
export type FigureName = (typeof FIGURE_NAMES)[number];

/** What each figure is, and its unit. */
export const FIGURE_MEANINGS: Readonly<Record<FigureName, string>> = {
  hbmBytes: 'memory of a chip in bytes',
  hbmBandwidth: 'memory bandwidth of a chip in bytes per second',
  linkBandwidth: 'bytes per second that one link of a chip carries in each direction',
  links: 'links from a chip to its neighbours',
  tensorCores: 'TensorCores of a chip',
  sparseCores: 'SparseCores of a chip',
  podChips: 'chips of the largest pod',
};

export type Generation = Readonly<Record<FigureName, Figure>> & {
  /** Other names that are understood. */
  readonly aliases: readonly string[];
};

const GIB = 2 ** 30;
const GB = 1e9;

function cloud(page: string, name: string): FigureSource {
  return { title: `Google Cloud documentation, ${name}`, url: `https://docs.cloud.google.com/tpu/docs/${page}` };
}

const V2_PAGE = cloud('v2', 'TPU v2');
const V3_PAGE = cloud('v3', 'TPU v3');
const V4_PAGE = cloud('v4', 'TPU v4');
const V5E_PAGE = cloud('v5e', 'TPU v5e');
const V5P_PAGE = cloud('v5p', 'TPU v5p');
const V6E_PAGE = cloud('v6e', 'TPU v6e');
const V7_PAGE = cloud('tpu7x', 'TPU7x (Ironwood)');
const SYSTEM_PAGE = cloud('system-architecture-tpu-vm', 'TPU system architecture');
const V2_PAPER: FigureSource = {
  title: "Norrie et al., The Design Process for Google's Training Chips: TPUv2 and TPUv3, IEEE Micro 2021",
  url: 'https://ieeexplore.ieee.org/document/9351692',
};
const V4_PAPER: FigureSource = {
  title: 'Jouppi et al., TPU v4: An Optically Reconfigurable Supercomputer, ISCA 2023, table 4',
  url: 'https://arxiv.org/abs/2304.01433',
};

const BOTH_WAYS = 'the page gives both directions of all links of a chip together';
const TORUS = 'a 3D torus: two neighbours in each of three directions';
const NO_SPARSE_CORES = 'not among the figures of the page';

/** The generations by name, oldest first. */
export const GENERATIONS: Readonly<Record<string, Generation>> = {
  v2: {
    aliases: [],
    hbmBytes: {
      value: 16 * GIB,
      source: SYSTEM_PAGE,
      note: '8 GiB for each of two cores, in older versions of the page',
    },
    hbmBandwidth: { value: 700 * GB, source: V2_PAPER },
    linkBandwidth: { value: 62.5 * GB, source: V2_PAPER, note: '500 Gbit/s' },
    links: { value: 4, source: V2_PAPER },
    tensorCores: { value: 2, source: V2_PAPER },
    sparseCores: { value: null, source: V2_PAGE, note: NO_SPARSE_CORES },
    podChips: {
      value: 256,
      source: SYSTEM_PAGE,
      note: '512 cores, in older versions of the page; the v2 page says 512 chips',
    },
  },
  v3: {
    aliases: [],
    hbmBytes: { value: 32 * GIB, source: V3_PAGE },
    hbmBandwidth: { value: 900 * GB, source: V3_PAGE },
    linkBandwidth: { value: 70 * GB, source: V4_PAPER },
    links: { value: 4, source: V4_PAPER },
    tensorCores: { value: 2, source: V3_PAGE },
    sparseCores: { value: 2, source: V4_PAPER },
    podChips: { value: 1024, source: V3_PAGE },
  },
  v4: {
    aliases: ['v4p'],
    hbmBytes: { value: 32 * GIB, source: V4_PAGE },
    hbmBandwidth: { value: 1200 * GB, source: V4_PAGE },
    linkBandwidth: { value: 50 * GB, source: V4_PAPER },
    links: { value: 6, source: V4_PAPER },
    tensorCores: { value: 2, source: V4_PAGE },
    sparseCores: { value: 4, source: V4_PAPER },
    podChips: { value: 4096, source: V4_PAGE },
  },
  v5e: {
    aliases: ['v5lite', 'v5litepod'],
    hbmBytes: { value: 16 * GB, source: V5E_PAGE, note: 'the page says GB, not GiB' },
    hbmBandwidth: {
      value: 819 * GB,
      source: V5E_PAGE,
      note: 'newer versions of the page say 800 GiB/s, which is 859 GB/s',
    },
    linkBandwidth: { value: 50 * GB, source: V5E_PAGE, note: `400 GB/s; ${BOTH_WAYS}` },
    links: { value: 4, source: V5E_PAGE },
    tensorCores: { value: 1, source: V5E_PAGE },
    sparseCores: { value: null, source: V5E_PAGE, note: NO_SPARSE_CORES },
    podChips: { value: 256, source: V5E_PAGE },
  },
  v5p: {
    aliases: [],
    hbmBytes: { value: 95 * GIB, source: V5P_PAGE, note: '96 GiB less what the runtime keeps' },
    hbmBandwidth: { value: 2765 * GB, source: V5P_PAGE },
    linkBandwidth: { value: 100 * GB, source: V5P_PAGE, note: `1200 GB/s; ${BOTH_WAYS}` },
    links: { value: 6, source: V5P_PAGE, note: TORUS },
    tensorCores: { value: 2, source: V5P_PAGE },
    sparseCores: { value: 4, source: V5P_PAGE },
    podChips: { value: 8960, source: V5P_PAGE, note: 'a single job takes at most 6144 of them' },
  },
  v6e: {
    aliases: ['trillium', 'v6'],
    hbmBytes: { value: 32 * GIB, source: V7_PAGE, note: 'its own page says GB' },
    hbmBandwidth: { value: 1638 * GB, source: V7_PAGE, note: 'its own page said 1600 GB/s in older versions' },
    linkBandwidth: { value: 100 * GB, source: V6E_PAGE, note: `800 GB/s; ${BOTH_WAYS}` },
    links: { value: 4, source: V6E_PAGE },
    tensorCores: { value: 1, source: V6E_PAGE },
    sparseCores: { value: 2, source: V7_PAGE },
    podChips: { value: 256, source: V6E_PAGE },
  },
  v7: {
    aliases: ['ironwood', 'v7x', 'tpu7x'],
    hbmBytes: { value: 192 * GIB, source: V7_PAGE },
    hbmBandwidth: { value: 7380 * GB, source: V7_PAGE },
    linkBandwidth: { value: 100 * GB, source: V7_PAGE, note: `1200 GB/s; ${BOTH_WAYS}` },
    links: { value: 6, source: V7_PAGE, note: TORUS },
    tensorCores: { value: 2, source: V7_PAGE },
    sparseCores: { value: 4, source: V7_PAGE },
    podChips: { value: 9216, source: V7_PAGE },
  },
};

export const GENERATION_NAMES: readonly string[] = Object.keys(GENERATIONS);

/** The name in `GENERATIONS` of a generation called `v5p`, `TPU v5p` or `Trillium`; null for an unknown one. */
export function generationName(called: string): string | null {
  const plain = called.toLowerCase().replace(/^(cloud )?tpu[ _-]?(?=v)/, '');
  const known = (name: string): boolean => name === plain || GENERATIONS[name]!.aliases.includes(plain);
  return GENERATION_NAMES.find(known) ?? null;
}
