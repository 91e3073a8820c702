import * as z from 'zod';
import { isLoopbackHost } from '../lib/is-loopback-host.ts';
import { minSecretLength } from '../tenants/deployment-secret.ts';
import { singleLineName } from '../tenants/single-line-name.ts';

/** `true` for a URL that browsers treat as secure: https, or http on this machine. */
function isSecureUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  if (url.search !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}

const secureUrl = z
  .string()
  .refine(
    isSecureUrl,
    'must be an https URL without query and fragment, such as https://actlog.example.com; http is allowed for a loopback address',
  );

const roleNames = ['viewer', 'approver', 'admin'] as const;

/** Headers that have a meaning of their own. */
const reservedHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'origin',
]);

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of a header, such as x-forwarded-user')
  .toLowerCase()
  .refine((name) => !reservedHeaders.has(name), 'must be a header of the proxy, such as x-forwarded-user');

/** Settings for people who sign in, by an OpenID provider or through a trusted proxy. */
export const signInSettings = {
  /** Address at which people reach the server, such as `https://actlog.example.com`. Required for people to sign in. */
  publicUrl: secureUrl.transform((text) => text.replace(/\/+$/, '')).optional(),
  /** Issuer of the OpenID provider that people sign in with. Default: none. */
  oidcIssuer: secureUrl.optional(),
  /** Client id of this server at the provider. */
  oidcClientId: z.string().min(1).optional(),
  /** Client secret of this server at the provider. Default: none, for a public client. */
  oidcClientSecret: z.string().min(1).optional(),
  /** Scopes to request, separated by spaces. */
  oidcScopes: z
    .string()
    .regex(/(^| )openid( |$)/, 'must contain openid')
    .default('openid profile email'),
  /** Claim with the name of the person. Default: `email`, then `preferred_username`, then `sub`. */
  oidcNameClaim: z.string().min(1).optional(),
  /** Claim with the groups of the person; a dotted path for a nested one, such as `realm_access.roles`. */
  oidcRolesClaim: z.string().min(1).default('groups'),
  /** Name of the provider on the sign-in page: "Sign in with …". */
  oidcLabel: singleLineName.default('single sign-on'),
  /** Roles by group, such as `{ "security": "admin", "on-call": "approver" }`. The highest one applies. */
  roles: z
    .record(
      z.string(),
      z.enum(roleNames, `must be one of ${roleNames.join(', ')}`),
      'must be an object with a role for each group, such as {"security":"admin"}',
    )
    .default({}),
  /** Role of people without a group in `roles`. With `none`, they get no access. */
  defaultRole: z
    .enum(['none', ...roleNames], `must be none, or one of ${roleNames.join(', ')}`)
    .default('none'),
  /** Minutes without a request after which a person is signed out. */
  signInIdleMinutes: z.number().min(1).max(525_600).default(60),
  /** Minutes after which a person must sign in again. */
  signInMaxMinutes: z.number().min(1).max(525_600).default(720),
  /**
   * Request header in which a trusted proxy names the person who sends a request, such as `x-forwarded-user`. It is
   * ignored unless the request comes from `trustedProxies` or contains `proxySecret`. Default: none.
   */
  principalHeader: headerName.optional(),
  /** Request header in which the proxy lists the groups of the person, separated by commas. Default: none. */
  groupsHeader: headerName.optional(),
  /** CIDR ranges of the proxies whose headers are trusted. */
  trustedProxies: z
    .array(
      z.union([z.cidrv4(), z.cidrv6()], 'must be a range in CIDR form, such as 10.1.0.7/32'),
      'must be an array of ranges, such as ["10.1.0.7/32"]',
    )
    .default([]),
  /** Secret that a trusted proxy sends in the header `x-actlog-proxy-secret`. Default: none. */
  proxySecret: z.string().min(minSecretLength, `must have at least ${minSecretLength} characters`).optional(),
  /** Address at which people sign out of the proxy, such as `/oauth2/sign_out`. Default: none. */
  proxySignOutUrl: z
    .string()
    .regex(
      /^(?:\/(?![/\\])|https:\/\/)[\x21-\x7e]*$/,
      'must be a path such as /oauth2/sign_out, or an https URL',
    )
    .optional(),
};

const schema = z.object(signInSettings);

/** Settings of the sign-in with defaults filled in. */
export type SignInSettings = z.output<typeof schema>;

/** A problem between settings. */
export interface SettingProblem {
  readonly setting: keyof SignInSettings;
  readonly message: string;
}

/** `true` if people can sign in through a trusted proxy, not only approve with a key that several people use. */
export function signsInByProxy({ principalHeader, roles: byGroup, defaultRole }: SignInSettings): boolean {
  return principalHeader !== undefined && (defaultRole !== 'none' || Object.keys(byGroup).length > 0);
}

/** Returns the problems of settings that are valid one by one, but not together. */
export function signInProblems(settings: SignInSettings & { readonly console: boolean }): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const { oidcIssuer, oidcClientId, publicUrl, principalHeader, trustedProxies, proxySecret } = settings;
  const report = (setting: keyof SignInSettings, message: string) => problems.push({ setting, message });
  if (oidcIssuer !== undefined) {
    if (oidcClientId === undefined) report('oidcClientId', 'is required with oidcIssuer');
    if (!settings.console)
      report('oidcIssuer', 'needs the console, where people sign in; set console to true');
  } else if (oidcClientId !== undefined || settings.oidcClientSecret !== undefined) {
    report('oidcIssuer', 'is required with oidcClientId, such as https://login.example.com');
  }
  if (publicUrl === undefined && (oidcIssuer !== undefined || signsInByProxy(settings))) {
    report('publicUrl', 'is required for people to sign in, such as https://actlog.example.com');
  }
  const trustsNobody = trustedProxies.length === 0 && proxySecret === undefined;
  if (principalHeader !== undefined && trustsNobody) {
    const message =
      'is trusted from certain proxies only; set trustedProxies to their addresses, or a proxySecret';
    report('principalHeader', message);
  }
  if (principalHeader === undefined) {
    const unused = [
      ['groupsHeader', settings.groupsHeader !== undefined],
      ['trustedProxies', trustedProxies.length > 0],
      ['proxySecret', proxySecret !== undefined],
    ] as const;
    for (const [setting, isSet] of unused)
      if (isSet) report(setting, 'has no effect without principalHeader');
  }
  return problems;
}
