import { type Check, found, ok } from '../check.ts';
import { connectTo } from '../connect-to.ts';
import { known } from '../known.ts';
import { proxyFor } from '../proxy-for.ts';

/** Check of the proxy variables, and of the proxy itself. */
export const proxy: Check = {
  id: 'proxy',
  title: 'Proxy',
  requires: ['base-url'],
  async run(facts) {
    const url = known(facts.baseURL);
    const chosen = proxyFor(url, process.env);
    if (!chosen) return ok('none');
    const { variable, address } = chosen;
    const host = url.hostname;
    const proxyUrl = URL.canParse(address) ? new URL(address) : undefined;
    if (proxyUrl?.protocol !== 'http:' && proxyUrl?.protocol !== 'https:') {
      return found('proxy-invalid', { variable, host });
    }
    facts.proxy = proxyUrl;
    const code = await connectTo(proxyUrl, facts.options.timeoutMs);
    // Without the user and the password of the address.
    const shown = `${proxyUrl.protocol}//${proxyUrl.host}`;
    return code === undefined
      ? ok(`${shown}, by ${variable}`)
      : found('proxy-unreachable', { proxy: shown, variable, code, host });
  },
};
