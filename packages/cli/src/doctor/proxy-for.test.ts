import { expect, test } from 'vitest';
import { proxyFor } from './checks/network.ts';

const proxy = 'http://proxy.example:3128';

test.each<[string, string, Record<string, string>, string | undefined]>([
  ['https by HTTPS_PROXY', 'https://a.example', { HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
  ['https by HTTP_PROXY too, as undici does', 'https://a.example', { http_proxy: proxy }, 'http_proxy'],
  [
    'http by HTTP_PROXY',
    'http://a.example',
    { HTTP_PROXY: proxy, HTTPS_PROXY: 'http://other' },
    'HTTP_PROXY',
  ],
  ['http not by HTTPS_PROXY', 'http://a.example', { HTTPS_PROXY: proxy }, undefined],
  ['the lower-case name first', 'https://a.example', { HTTPS_PROXY: 'x', https_proxy: proxy }, 'https_proxy'],
  ['none for this machine', 'http://127.0.0.1:8787', { HTTP_PROXY: proxy }, undefined],
  ['none for localhost', 'http://localhost:8787', { HTTP_PROXY: proxy }, undefined],
  [
    'none for a host of NO_PROXY',
    'https://a.example',
    { HTTPS_PROXY: proxy, NO_PROXY: 'b, A.example' },
    undefined,
  ],
  ['none below a domain', 'https://a.example', { HTTPS_PROXY: proxy, no_proxy: '.example' }, undefined],
  [
    'none below a domain with a star',
    'https://a.example',
    { HTTPS_PROXY: proxy, no_proxy: '*.example' },
    undefined,
  ],
  ['none for all', 'https://a.example', { HTTPS_PROXY: proxy, NO_PROXY: '*' }, undefined],
  ['none on a port', 'https://a.example', { HTTPS_PROXY: proxy, NO_PROXY: 'a.example:443' }, undefined],
  [
    'one on another port',
    'https://a.example',
    { HTTPS_PROXY: proxy, NO_PROXY: 'a.example:8443' },
    'HTTPS_PROXY',
  ],
  [
    'one for a name that only ends alike',
    'https://ba.example',
    { HTTPS_PROXY: proxy, NO_PROXY: 'a.example' },
    'HTTPS_PROXY',
  ],
])('chooses %s', (_what, url, env, variable) => {
  expect(proxyFor(new URL(url), env)?.variable).toBe(variable);
});
