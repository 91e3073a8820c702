import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { collectSettings, secretsHelp, settingOptions } from '../../src/cli/serve-command.ts';
import { configured, type ServerOptions } from '../../src/configuration.ts';
import { atTestEnd } from '../test-end.ts';

const oidc = { publicUrl: 'https://a.example', oidcIssuer: 'https://b.example', oidcClientId: 'c' };
const proxy = { principalHeader: 'x-user', trustedProxies: ['10.0.0.1/32'] };

test.each([
  [{ ...oidc, publicUrl: undefined }, 'publicUrl: is required for people to sign in'],
  [{ ...oidc, oidcClientId: undefined }, 'oidcClientId: is required with oidcIssuer'],
  [{ ...oidc, oidcIssuer: undefined }, 'oidcIssuer: is required with oidcClientId'],
  [{ ...oidc, console: false }, 'oidcIssuer: needs the console'],
  [{ ...oidc, publicUrl: 'http://a.example' }, 'publicUrl: must be an https URL'],
  [{ ...oidc, publicUrl: 'https://user:pw@a.example' }, 'publicUrl: must be an https URL'],
  [{ ...oidc, publicUrl: 'https://a.example?x=1' }, 'publicUrl: must be an https URL'],
  [{ ...oidc, oidcIssuer: 'http://b.example' }, 'oidcIssuer: must be an https URL'],
  [{ ...oidc, oidcScopes: 'email' }, 'oidcScopes: must contain openid'],
  [{ ...oidc, roles: { a: 'owner' } }, 'roles.a: must be one of viewer, approver, admin'],
  [{ ...oidc, roles: ['admin'] }, 'roles: must be an object with a role for each group'],
  [{ ...oidc, defaultRole: 'root' }, 'defaultRole: must be none, or one of viewer, approver, admin'],
  [
    { principalHeader: 'x-user' },
    'principalHeader: is trusted from certain proxies only; set trustedProxies',
  ],
  [{ ...proxy, trustedProxies: ['10.0.0.1'] }, 'trustedProxies.0: must be a range in CIDR form'],
  [{ ...proxy, principalHeader: 'x user' }, 'principalHeader: must be the name of a header'],
  [{ ...proxy, groupsHeader: 'Cookie' }, 'groupsHeader: must be a header of the proxy'],
  [{ trustedProxies: ['10.0.0.1/32'] }, 'trustedProxies: has no effect without principalHeader'],
  [{ groupsHeader: 'x-groups' }, 'groupsHeader: has no effect without principalHeader'],
  [{ ...proxy, defaultRole: 'viewer' }, 'publicUrl: is required for people to sign in'],
  [{ ...proxy, proxySecret: 'short' }, 'proxySecret: must have at least 32 characters'],
  [
    { ...proxy, proxySignOutUrl: '//evil.example' },
    'proxySignOutUrl: must be a path such as /oauth2/sign_out',
  ],
])('reports the problem of %j', (options, problem) => {
  expect(() => configured(options as ServerOptions)).toThrow(problem);
});

test.each([
  [oidc],
  [{ ...oidc, publicUrl: 'http://localhost:8787/' }],
  [{ ...oidc, oidcIssuer: 'http://[::1]:9000' }],
  [proxy],
  [{ ...proxy, publicUrl: 'https://a.example/tools/', roles: { ops: 'admin' } }],
])('accepts %j', (options) => {
  const { publicUrl } = configured(options as ServerOptions);
  expect(publicUrl?.endsWith('/')).not.toBe(true);
});

test('takes secrets from variables and files, and never from flags', () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const file = join(folder, 'secret');
  writeFileSync(file, 'from a file\n');
  const environment = {
    ACTLOG_OIDC_ISSUER: 'https://b.example',
    ACTLOG_OIDC_CLIENT_SECRET_FILE: file,
    ACTLOG_ROLES: '{"ops":"admin"}',
    ACTLOG_TRUSTED_PROXIES: '["10.0.0.1/32"]',
    ACTLOG_SIGN_IN_IDLE_MINUTES: '30',
  };
  expect(collectSettings({}, environment, undefined, {})).toEqual({
    oidcIssuer: 'https://b.example',
    oidcClientSecret: 'from a file',
    roles: { ops: 'admin' },
    trustedProxies: ['10.0.0.1/32'],
    signInIdleMinutes: 30,
  });
  const flags = settingOptions().map(({ long }) => long);
  expect(flags).toEqual(expect.arrayContaining(['--oidc-issuer', '--trusted-proxies', '--default-role']));
  expect(flags).not.toContain('--oidc-client-secret');
  expect(flags).not.toContain('--proxy-secret');
  expect(secretsHelp()).toMatch(/ACTLOG_OIDC_CLIENT_SECRET +client secret/);
});
