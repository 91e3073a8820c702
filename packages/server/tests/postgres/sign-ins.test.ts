import { expect, test } from 'vitest';
import { ChildServer } from '../child-server.ts';
import { people, roles, SignedIn } from '../sign-in/sign-in-setup.ts';
import { TestBrowser } from '../sign-in/test-browser.ts';
import { TestProvider } from '../sign-in/test-provider.ts';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';

const publicUrl = 'https://actlog.example';

test('two processes share a sign-in, from its beginning at the one to its end at the other', {
  timeout: 60_000,
}, async () => {
  const provider = await TestProvider.start({ publicUrl, people });
  const options = {
    ...provider.settings,
    publicUrl,
    roles,
    secret: testSecret,
    database: await createDatabase(),
    docs: false,
  };
  const one = await ChildServer.start(options);
  atTestEnd(() => one.kill());
  const two = await ChildServer.start(options);
  atTestEnd(() => two.kill());

  // Begun at the first process, completed at the second.
  const browser = new TestBrowser({ [publicUrl]: one.url });
  const { url: page } = await browser.open(`${publicUrl}/console/sign-in`);
  browser.hosts[publicUrl] = two.url;
  const body = new URLSearchParams({ account: 'ada' });
  expect((await browser.open(page, { method: 'POST', body })).url).toBe(`${publicUrl}/console/#/`);

  const ada = SignedIn.in(browser, publicUrl);
  const tokens: unknown[] = [];
  for (const process of [one, two]) {
    browser.hosts[publicUrl] = process.url;
    tokens.push((await ada.identity()).csrfToken);
  }
  expect(tokens[0]).toBe(tokens[1]);
  ada.csrfToken = tokens[0] as string;
  browser.hosts[publicUrl] = one.url;
  expect(await ada.status('POST', '/v1/policies', { name: 'p', effect: 'deny' })).toBe(201);

  const rows = await asSuperuser<Record<string, unknown>>('select * from sign_ins', options.database);
  const secret = browser.cookies.get('__Host-actlog-sign-in') as string;
  expect(rows).toMatchObject([{ name: 'ada@example.com', role: 'admin' }]);
  expect(JSON.stringify(rows)).not.toContain(secret);
  // The ID token is encrypted.
  expect(JSON.stringify(rows)).not.toMatch(/"ey[\w-]+\./);

  expect(await ada.status('POST', '/console/api/sign-out')).toBe(200);
  browser.cookies.set('__Host-actlog-sign-in', secret);
  expect(await ada.status('GET', '/v1/sessions')).toBe(401);
  browser.hosts[publicUrl] = two.url;
  await expect.poll(() => ada.status('GET', '/v1/sessions'), { timeout: 5000 }).toBe(401);
});
