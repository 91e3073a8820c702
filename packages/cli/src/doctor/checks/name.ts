import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Check, found, ok } from '../check.ts';
import { codeOf, hostOf } from '../connect-to.ts';
import { known } from '../known.ts';

/** Check that the name of the service has an address. */
export const name: Check = {
  id: 'name',
  title: 'Name resolution',
  requires: ['base-url', 'proxy'],
  async run(facts) {
    const host = hostOf(known(facts.baseURL));
    if (facts.proxy) return ok('done by the proxy');
    if (isIP(host) !== 0) return ok(`${host} is an address`);
    try {
      // As the client's connections: by the system, with its hosts file.
      const addresses = await lookup(host, { all: true });
      return ok(addresses.map(({ address }) => address).join(', '));
    } catch (error) {
      return found('name-unknown', { host, code: codeOf(error) });
    }
  },
};
