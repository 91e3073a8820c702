import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { AddressGuard, ForbiddenAddressError, ForbiddenPortError } from './address-guard.ts';
import { guardedAgent } from './sender.ts';

const forbidden = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0x7f.1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '127.0.0.1.',
  '①②⑦.0.0.1',
];

test.each(forbidden)('refuses the address http://%s/', async (host) => {
  const guard = new AddressGuard([]);
  await expect(guard.inspect(new URL(`http://${host}/`))).rejects.toThrow(ForbiddenAddressError);
});

test.each(['93.184.216.34', '[2606:2800:220:1:248:1893:25c8:1946]'])(
  'accepts the public address %s',
  async (host) => {
    await expect(new AddressGuard([]).inspect(new URL(`https://${host}/`))).resolves.toBeUndefined();
  },
);

function resolver(...results: string[][]): LookupFunction {
  return (_hostname, options, callback) => {
    const addresses = (results.length > 1 ? results.shift() : results[0]) as string[];
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (options.all) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
}

test.each([
  ['a private address', [['10.1.2.3']]],
  ['a public and a private address', [['93.184.216.34', '10.1.2.3']]],
  ['a mapped address', [['::ffff:10.1.2.3']]],
])('refuses a name that resolves to %s at creation', async (_what, results) => {
  const guard = new AddressGuard([], 'any', resolver(...results));
  await expect(guard.inspect(new URL('http://receiver.example/'))).rejects.toThrow(ForbiddenAddressError);
});

test('does not connect to a name that resolves to another address after creation', async () => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const guard = new AddressGuard([], 'any', resolver(['93.184.216.34'], ['127.0.0.1']));
  const agent = guardedAgent(guard);
  const url = new URL(`http://rebinding.example:${port}/`);
  await guard.inspect(url);
  await expect(request(url, { dispatcher: agent })).rejects.toThrow('not a public address');
  await expect(request(`http://127.0.0.1:${port}/`, { dispatcher: agent })).rejects.toThrow('public');
  await expect(request(`http://[::ffff:7f00:1]:${port}/`, { dispatcher: agent })).rejects.toThrow('public');
  expect(requests).toBe(0);
  const open = guardedAgent(new AddressGuard(['127.0.0.0/8'], 'any', resolver(['127.0.0.1'])));
  expect((await request(url, { dispatcher: open })).statusCode).toBe(200);
  await agent.destroy();
  await open.destroy();
  server.close();
});

test('allows only the configured range', () => {
  const guard = new AddressGuard(['10.1.0.0/16', 'fd00::/8']);
  expect(['10.1.255.1', '::ffff:10.1.0.1', 'fd12::1'].map((address) => guard.permits(address))).toEqual([
    true,
    true,
    true,
  ]);
  expect(['10.2.0.1', '127.0.0.1', 'fc00::1', 'nonsense', ''].some((address) => guard.permits(address))).toBe(
    false,
  );
});

test.each(['http://93.184.216.34:8080/', 'https://93.184.216.34:22/', 'https://receiver.example:8443/'])(
  'refuses the port of %s unless the operator allows it',
  async (address) => {
    const url = new URL(address);
    const refused = new AddressGuard([], undefined, resolver(['93.184.216.34'])).inspect(url);
    await expect(refused).rejects.toThrow(`uses port ${url.port}; webhooks go to the ports 443 and 80 only`);
    const open = new AddressGuard([], [Number(url.port)], resolver(['93.184.216.34']));
    await expect(open.inspect(url)).resolves.toBeUndefined();
    await expect(open.inspect(new URL('https://93.184.216.34/'))).rejects.toThrow(ForbiddenPortError);
  },
);

test('does not connect to a stored webhook with a forbidden port', async () => {
  let connections = 0;
  const server = createServer().on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = guardedAgent(new AddressGuard(['127.0.0.0/8']));
  await expect(request(`http://127.0.0.1:${port}/`, { dispatcher: agent })).rejects.toThrow(`port ${port}`);
  expect(connections).toBe(0);
  await agent.destroy();
  server.close();
});
