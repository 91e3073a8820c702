import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import * as z from 'zod';
import { agentIdProblem, maxPatternLength, patternProblem } from './agent-pattern.ts';

/** Algorithms whose keys are public. A token with any other is refused, above all `none` and those with a shared secret. */
export const asymmetricAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** `true` for https, or http on this machine, without a user name and a fragment. */
export function isSecureAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isLoopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback);
}

const address = z
  .string('must be an address such as https://login.example.com')
  .refine(
    isSecureAddress,
    'must be an https address without user name and fragment; http is allowed on this machine',
  );

const word = z.string('must be a string').min(1, 'must not be empty').max(maxPatternLength);

function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .union([item.transform((one) => [one]), z.array(item).min(1)])
    .transform((items): z.output<Item>[] => [...new Set(items as z.output<Item>[])]);
}

const issuer = z
  .strictObject({
    /** The claim `iss` of the tokens, compared letter by letter. */
    issuer: address.optional(),
    /** SPIFFE trust domain instead of an issuer, such as `acme.example`: JWT-SVIDs need no `iss`. */
    trustDomain: z
      .string()
      .regex(/^[a-z0-9._-]{1,255}$/, 'must be a trust domain without scheme, such as acme.example')
      .optional(),
    /** Audience that a token must have, such as the address of the service; or a list, of which it must have one. */
    audience: listOf(word),
    /** Address of the keys, a JWKS. Default: the one in the metadata of the issuer (OpenID Connect Discovery, RFC 8414). */
    jwksUrl: address.optional(),
    /** File with the keys instead, a JWKS or a SPIFFE bundle. It is read again when it changes. */
    jwksFile: word.optional(),
    /** Accepted algorithms. */
    algorithms: z
      .array(z.enum(asymmetricAlgorithms, `must be among ${asymmetricAlgorithms.join(', ')}`))
      .min(1)
      .default([...asymmetricAlgorithms]),
    /** Claim that says which agent sends the token; a dotted path leads to a nested one, such as `act.sub`. */
    agentClaim: word.default('sub'),
    /**
     * Agent ids by pattern of that claim, such as `{ "repo:acme/deploy:*": "deploy" }`. A token without a match is
     * refused. Default: tokens of this issuer name no agent.
     */
    agents: z
      .record(word, listOf(word.max(200)), 'must be an object such as {"repo:acme/deploy:*":"deploy"}')
      .default({}),
    /** Claim with the person or system that the agent acts for, such as `email`. Default: tokens name no principal. */
    principalClaim: word.optional(),
    /** Claims that a token must have, with the value, or a list of which it must have one. */
    claims: z
      .record(
        word,
        listOf(z.union([z.string(), z.number(), z.boolean()])),
        'must be an object such as {"repository_owner_id":"4711"}',
      )
      .default({}),
    /** Seconds by which the clocks may differ. */
    clockSkewSeconds: z.int().min(0).max(300).default(30),
    /** Age from which a token is refused even if it has not expired, in seconds. */
    maxAgeSeconds: z.int().min(60).max(31_536_000).default(86_400),
  })
  .superRefine((settings, { addIssue }) => {
    const report = (path: string[], message: string) => addIssue({ code: 'custom', path, message });
    if ((settings.issuer === undefined) === (settings.trustDomain === undefined)) {
      report(['issuer'], 'is required, or trustDomain instead');
    }
    if (settings.jwksUrl !== undefined && settings.jwksFile !== undefined) {
      report(['jwksFile'], 'and jwksUrl are both set; set one');
    }
    if (
      settings.trustDomain !== undefined &&
      settings.jwksUrl === undefined &&
      settings.jwksFile === undefined
    ) {
      report(['jwksUrl'], 'or jwksFile is required with trustDomain, such as the bundle endpoint of SPIRE');
    }
    for (const [pattern, agentIds] of Object.entries(settings.agents)) {
      const problem =
        patternProblem(pattern) ?? agentIds.map((id) => agentIdProblem(pattern, id)).find(Boolean);
      if (problem !== undefined) report(['agents', pattern], problem);
    }
  });

/** An issuer whose tokens are accepted, with the rules for them. */
export type TrustedIssuer = z.output<typeof issuer>;

/** Settings of a {@link TrustedIssuer}, as an operator writes them. */
export type TrustedIssuerSettings = z.input<typeof issuer>;

/** Returns the name of an issuer in decisions, errors and logs. */
export function issuerName({ issuer: id, trustDomain }: TrustedIssuer): string {
  return id ?? `spiffe://${trustDomain}`;
}

const list = z
  .array(issuer, 'must be an array such as [{"issuer":"https://…","audience":"…"}], or a file with one')
  .superRefine((issuers, { addIssue }) => {
    const names = new Set<string>();
    for (const [at, one] of issuers.entries()) {
      const name = issuerName(one);
      if (names.has(name)) {
        addIssue({
          code: 'custom',
          path: [at, 'issuer'],
          message: `must differ from the others, got ${name} twice`,
        });
      }
      names.add(name);
    }
  });

/** Schema of a setting with issuers: a list, its JSON, or the path of a file with it. */
export const issuersSetting: z.ZodType<readonly TrustedIssuer[], string | readonly TrustedIssuerSettings[]> =
  z.unknown().transform((given, context): readonly TrustedIssuer[] => {
    let value = given;
    if (typeof given === 'string') {
      try {
        value = JSON.parse(given.trimStart().startsWith('[') ? given : readFileSync(given, 'utf8'));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        const message =
          code === undefined
            ? 'must be valid JSON: an array such as [{"issuer":"https://…","audience":"…"}]'
            : `must be JSON, or the path of a file that can be read (${code})`;
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
    }
    const { data, error } = list.safeParse(value);
    if (data) return data;
    for (const { path, message } of error.issues)
      context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  }) as never;
