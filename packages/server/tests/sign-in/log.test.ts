import { expect, test } from 'vitest';
import { start } from '../command-line.ts';
import { freePort } from '../free-port.ts';
import { onPostgres } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { people, roles, SignedIn, signIn } from './sign-in-setup.ts';
import { TestBrowser } from './test-browser.ts';
import { TestProvider } from './test-provider.ts';

// The log is independent of the database, so one run is enough.
test.skipIf(onPostgres)(
  'the log tells who signed in by id, and contains no name, cookie, code or token',
  {
    timeout: 60_000,
  },
  async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const provider = await TestProvider.start({ publicUrl: url, people });
    const { oidcIssuer, oidcClientId, oidcClientSecret = '' } = provider.settings;
    const server = start(['--port', String(port), '--database', ':memory:'], {
      env: {
        ACTLOG_PUBLIC_URL: url,
        ACTLOG_OIDC_ISSUER: oidcIssuer,
        ACTLOG_OIDC_CLIENT_ID: oidcClientId,
        ACTLOG_OIDC_CLIENT_SECRET: oidcClientSecret,
        ACTLOG_ROLES: JSON.stringify(roles),
      },
    });
    atTestEnd(async () => server.kill());
    await server.stderr.until((text) => text.includes('ACTLOG_BASE_URL='));

    const ada = await SignedIn.as('ada', url);
    const { id } = await ada.identity();
    const secrets = [ada.csrfToken, ada.browser.cookies.get('actlog-sign-in') as string, oidcClientSecret];
    const { continueAt } = (await (await ada.send('POST', '/console/api/sign-out')).json()) as {
      continueAt: string;
    };
    secrets.push(new URL(continueAt).searchParams.get('id_token_hint') as string);
    const browser = new TestBrowser();
    const isCallback = (address: string) => address.includes('/console/sign-in/callback');
    const { url: back } = await signIn(browser, url, 'eve', { stop: isCallback });
    secrets.push(new URL(back).searchParams.get('code') as string);
    secrets.push(browser.cookies.get('actlog-sign-in-attempt') as string);
    expect((await browser.open(back)).response.status).toBe(403);
    expect((await browser.open(back)).response.status).toBe(400);
    server.kill();
    await server.exit;

    const log = server.stdout.logged;
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const about = lines.filter(({ msg }) => /sign/.test(String(msg)));
    expect(about).toMatchObject([
      { msg: 'signed in', userId: id, role: 'admin', tenantId: 1 },
      { msg: 'signed out', userId: id, tenantId: 1 },
      { msg: 'sign-in of a person without a role', userId: expect.stringMatching(/^usr_/) },
      { msg: 'sign-in failed', failure: 'stale', reason: 'no_attempt' },
    ]);
    expect(lines).toContainEqual(expect.objectContaining({ route: '/console/api/identity', userId: id }));
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(10);
      expect(log).not.toContain(secret);
    }
    expect(log).not.toMatch(/@example\.com|state=|code=/);
  },
);
