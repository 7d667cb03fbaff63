/** Stands for the entries of the package where the site is built for its pages alone. */

/** The number of ids that one row may hold here. */
export const IDS_PER_ROW = 3;
