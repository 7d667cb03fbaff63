/** Addresses of servers: `host:port`, `[IPv6]:port`. */
import { createServer } from 'node:net';

/** {host, port, text}; null where it is none. */
export function addressOf(text) {
  const [, six, name, digits] = /^(?:\[([\da-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  return digits === undefined || port < 1 || port > 65535 ? null : { host: six ?? name, port, text };
}

/** Why nothing can listen there; null where it can. TensorFlow itself would share a port with another server. */
export async function whyNot({ host, port, text }) {
  const refused = (place) =>
    new Promise((resolve) => {
      const probe = createServer();
      probe.on('error', (error) => resolve(error.code));
      probe.listen({ port, ...place }, () => probe.close(() => resolve(null)));
    });
  // Its address first, then all of them: TensorFlow listens on those.
  for (const place of [{ host, exclusive: true }, { exclusive: true }]) {
    const code = await refused(place);
    if (code === 'EADDRINUSE') return `port ${port} is in use`;
    if (code === 'EACCES') return `port ${port} may not be used by this user`;
    if (code === 'EADDRNOTAVAIL') return `${text} is no address of this machine`;
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `no address is known for ${host}`;
    if (code !== null) return `nothing can listen at ${text}: ${code}`;
  }
  return null;
}
