import { type Check, found, ok } from '../check.ts';
import { connectTo, hostOf, portOf } from '../connect-to.ts';
import { known } from '../known.ts';

/** Check that the port of the service accepts connections. */
export const connection: Check = {
  id: 'connection',
  title: 'Connection',
  requires: ['name'],
  async run(facts) {
    const url = known(facts.baseURL);
    if (facts.proxy) return ok('made by the proxy');
    const code = await connectTo(url, facts.options.timeoutMs);
    const port = portOf(url);
    const host = hostOf(url);
    if (code === undefined) return ok(`port ${port}`);
    return found(code === 'ECONNREFUSED' ? 'port-closed' : 'port-unreachable', { host, port, code });
  },
};
