/** A step on servers of a network: each server in numbers, and what it rests on. */
import { reportClusterTexts, reportClusterTitle, shownServers, type ReportCluster } from '../cluster.js';
import { element, escaped, textTable } from './html.js';

/** The section of the servers. */
export function clusterSection(cluster: ReportCluster): string {
  const { head, lines, left } = shownServers(cluster);
  const texts = reportClusterTexts(cluster).map((text) => element('li', {}, escaped(text)));
  return element(
    'section',
    { 'aria-labelledby': 'cluster' },
    element('h2', { id: 'cluster' }, escaped(`On ${reportClusterTitle(cluster)}`)),
    element('ul', { class: 'plain' }, ...texts),
    textTable(`A step of one client${left === null ? '' : `, ${left}`}`, head, lines),
  );
}
