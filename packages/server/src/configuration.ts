import { getHeapStatistics } from 'node:v8';
import { issuersSetting } from '@actlog/identity';
import * as z from 'zod';
import { forwardSetting } from './forward/forward-settings.ts';
import { historySetting } from './history/click-house.ts';
import { optionsError } from './lib/api-error.ts';
import { isPostgresUrl, isUnsupportedAddress } from './storage/database-address.ts';
import { maxDays, retentionClasses } from './storage/retention/retention.ts';
import { type QuotaName, quotaNames } from './storage/stores/quota-table.ts';
import { minSecretLength } from './tenants/deployment-secret.ts';
import { keyAgents } from './tenants/key-options.ts';
import { singleLineName } from './tenants/single-line-name.ts';
import { signInProblems, signInSettings } from './users/sign-in-settings.ts';

/** Minimum length of a token for `/metrics`, in characters. */
const minMetricsTokenLength = 16;

const rate = z.union(
  [z.literal(false), z.strictObject({ requestsPerSecond: z.number().min(0.01), burst: z.int().min(1) })],
  'must be false, or an object such as {"requestsPerSecond":100,"burst":200}',
);

const days = (min: number) =>
  z.int('must be a whole number of days').min(min, `must be at least ${min} days`).max(maxDays);

const classProblem = {
  error: ({ code }: { readonly code: string }) =>
    code === 'unrecognized_keys'
      ? `must name classes of records; the classes are: ${retentionClasses.join(', ')}`
      : undefined,
};

const traceUrlForm =
  'must be an address with {traceId} and without a password, such as https://jaeger.example.com/trace/{traceId}';

const trueOrFalse = z.boolean('must be true or false');

const optionalQuota = z.int().min(0).nullable().optional();

const quotas = z.strictObject(
  Object.fromEntries(quotaNames.map((name) => [name, optionalQuota])) as Record<
    QuotaName,
    typeof optionalQuota
  >,
  {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `must name quotas; the quotas are: ${quotaNames.join(', ')}` : undefined,
  },
);

/** Schema of the options of a server. All have defaults that are safe on a single machine. */
export const configuration = z.strictObject({
  /** Address to listen on. The default is reachable only from this machine. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Port to listen on; 0 selects a free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Path of an SQLite file, `:memory:` for a temporary database, or `postgres://…`. */
  database: z.string().min(1).default(':memory:'),
  /** Maximum connections of this process to PostgreSQL, besides the one that listens for notifications. */
  databaseConnections: z.int().min(2).max(1000).default(10),
  /** Maximum size of the SQLite file, in bytes; beyond it events are refused with 503. Default: no limit. */
  maxDatabaseBytes: z.int().min(1_000_000).optional(),
  /**
   * Secret of the deployment. Default: random for a database in memory; otherwise a file beside the SQLite database.
   * With PostgreSQL it is required, and the same for all servers.
   */
  secret: z.string().min(minSecretLength, `must have at least ${minSecretLength} characters`).optional(),
  /**
   * Secret that the key of the logs is derived from, the same for all servers of a database. Default: derived from
   * `secret`.
   */
  logKey: z.string().min(minSecretLength, `must have at least ${minSecretLength} characters`).optional(),
  /** `logKey` before its last rotation: while it is set, its key signs the logs too. */
  previousLogKey: z
    .string()
    .min(minSecretLength, `must have at least ${minSecretLength} characters`)
    .optional(),
  /**
   * Beginning of the names of the logs, such as `actlog.example.com`. It must never change, because a log with another
   * name is another log. Default: a name derived from `secret`.
   */
  logName: z
    .string()
    .regex(/^[^\s+]{1,200}$/, 'must be 1 to 200 characters without spaces and "+"')
    .optional(),
  /**
   * Witnesses that cosign the logs: for each its verifier key, a space and its URL. Once one has cosigned, only
   * cosigned checkpoints are published.
   */
  logWitnesses: z
    .array(
      z.string().regex(/^[^ +]+\+[0-9a-f]{8}\+\S+ https?:\/\/\S+$/, 'must be "<verifier key> <url>"'),
      'must be an array such as ["witness.example.org+1b2c3d4e+BF… https://witness.example.org"]',
    )
    .default([]),
  /** Access to the checkpoints and tiles of the logs: `open` for everyone, or `key` for keys with the scope `read`. */
  logAccess: z.enum(['open', 'key'], 'must be "open" or "key"').default('open'),
  /** Name of the tenant of the returned key, and of the people who sign in. */
  tenant: singleLineName.default('default'),
  /** An API key to use instead of creating one, so that it stays the same across restarts. */
  apiKey: z.string().min(1).optional(),
  /**
   * Patterns of the agents that `agentKey` may act as, such as `billing*`: a list, or a text with commas. Default: any
   * agent.
   */
  agents: z.preprocess(
    (given) => (typeof given === 'string' ? given.split(',').map((pattern) => pattern.trim()) : given),
    keyAgents.optional(),
  ),
  /** `true` to accept keys of kind `test`; a production deployment may refuse them. */
  acceptTestKeys: trueOrFalse.default(true),
  /** Maximum events that wait to be stored; further ones are refused with 503. */
  maxQueuedEvents: z.int().min(1).default(10_000),
  /**
   * Maximum memory for events from their first byte until they are stored, in bytes; further ones are refused with 503.
   * Checks, spans, all other requests, exports, responses and pipelined requests may each take as much again. A single request
   * always has room. Default: an eighth of Node's heap limit.
   */
  maxQueuedBytes: z
    .int()
    .min(1)
    .default(() => Math.floor(getHeapStatistics().heap_size_limit / 8)),
  /** Rate limit of each key: requests per second on average, and burst. `false` for no limit. */
  rateLimit: rate.default({ requestsPerSecond: 10_000, burst: 20_000 }),
  /**
   * Rate limit for requests with an invalid or missing key, per client address. A valid key is always accepted. `false`
   * for no limit. Behind a proxy, all clients have the proxy's address.
   */
  invalidKeyLimit: rate.default({ requestsPerSecond: 10, burst: 200 }),
  /**
   * Quotas of tenants that have none, by name, such as `{ sessions: 1000000, agents: null }`; `null` for no limit.
   * Others keep their defaults.
   */
  quotas: quotas.default({}),
  /**
   * Days for which records of tenants without their own retention are kept, by class, such as
   * `{ sessions: 90, decisions: 365 }`; `null` for forever. Classes that are not named have their defaults. If nothing is
   * given, the deployment keeps the retention that a server has set last.
   */
  retention: z
    .strictObject(
      {
        sessions: days(1).nullable().optional(),
        decisions: days(1).nullable().optional(),
        approvals: days(1).nullable().optional(),
        audit: days(1).nullable().optional(),
      },
      classProblem,
    )
    .optional(),
  /**
   * Days for which records of all tenants are kept at least, by class, such as `{ decisions: 365 }`; 0 for no floor. No
   * retention below is accepted, and nothing is deleted before, except by an erasure. Default: 183 days for decisions,
   * approvals and the audit log, or what a server has set last.
   */
  retentionFloors: z
    .strictObject(
      {
        sessions: days(0).optional(),
        decisions: days(0).optional(),
        approvals: days(0).optional(),
        audit: days(0).optional(),
      },
      classProblem,
    )
    .optional(),
  /** CIDR ranges that webhooks may reach besides public addresses, such as `10.1.0.0/16`. */
  webhookAllowedRanges: z
    .array(
      z.union([z.cidrv4(), z.cidrv6()], 'must be a range in CIDR form, such as 10.1.0.0/16'),
      'must be an array of ranges, such as ["10.1.0.0/16"]',
    )
    .default([]),
  /** Ports that webhooks may use, or `any`. */
  webhookAllowedPorts: z
    .union(
      [z.literal('any'), z.array(z.int().min(1).max(65_535)).min(1)],
      'must be "any", or an array of ports, such as [443,8443]',
    )
    .default([443, 80]),
  /** Rate limit of this process's attempts to each destination host of webhooks. `false` for no limit. */
  webhookHostRate: z
    .union(
      [z.literal(false), z.strictObject({ requestsPerSecond: z.number().min(0.01), burst: z.int().min(1) })],
      'must be false, or an object such as {"requestsPerSecond":20,"burst":100}',
    )
    .default({ requestsPerSecond: 20, burst: 100 }),
  /**
   * Destinations of the records of all tenants, such as a SIEM: a list, its JSON, or the path of a file with it. Each
   * position is kept by the name of its destination.
   */
  forward: forwardSetting.default([]),
  /**
   * Database of ClickHouse that keeps the events after retention has deleted them here, such as
   * `https://user:password@clickhouse.example.com:8443/actlog`. Default: none.
   */
  history: historySetting.optional(),
  /** Days for which the history keeps events after their receipt; whole weeks are deleted. `null` for forever. */
  historyDays: days(1).nullable().default(null),
  /** Seconds for which the events of a tenant are collected into a block for the history. */
  historyBlockSeconds: z.number('must be a number of seconds').min(0).max(3600).default(10),
  /** Time limit for receiving a request, and for reading a response, in milliseconds. */
  requestTimeoutMs: z.int().min(1000).default(30_000),
  /**
   * `true` to serve the documentation and the API reference at `/docs`, from the package `@actlog/docs` if it is
   * installed. `/openapi.json` is always served.
   */
  docs: trueOrFalse.default(true),
  /**
   * Access to `/metrics` without a token: `loopback` if the server listens on a loopback address, `open` for everyone
   * who can reach the server.
   */
  metrics: z.enum(['loopback', 'open'], 'must be "loopback" or "open"').default('loopback'),
  /** Bearer token for `/metrics`, required on every address if set; without it, `metrics` decides. */
  metricsToken: z
    .string()
    .min(minMetricsTokenLength, `must have at least ${minMetricsTokenLength} characters`)
    .optional(),
  /** `true` to keep the decision of every check, for the retention of the tenant. */
  keepDecisions: trueOrFalse.default(true),
  /**
   * `true` to append what is recorded to the log of its tenant, so that an outsider can verify it. A server with `true`
   * also appends what was recorded without. Deletions are appended in any case.
   */
  keepLog: trueOrFalse.default(true),
  ...signInSettings,
  /** Bot token of the Slack app whose messages ask for approvals, `xoxb-…`. Default: none. */
  slackBotToken: z
    .string()
    .regex(/^xox[a-z]-\S+$/, 'must be a bot token, which begins with xoxb-')
    .optional(),
  /** Signing secret of the Slack app, by which the clicks of people are verified. */
  slackSigningSecret: z.string().min(16, 'must be the signing secret of the Slack app').optional(),
  /** Address of Slack's Web API, for example GovSlack's. */
  slackApiUrl: z.url({ protocol: /^https?$/ }).default('https://slack.com/api/'),
  /**
   * People by the ids of Slack users, such as `{ "U0123456789": "ada@example.com" }`: a verified address, or an id such as
   * `usr_5f0c…`. It takes precedence over the address in Slack.
   */
  slackPeople: z
    .record(z.string(), z.string().min(1), 'must be an object such as {"U0123456789":"ada@example.com"}')
    .default({}),
  /** Address of the mail server, such as `smtps://user:password@mail.example.com`. Default: none. */
  smtpUrl: z
    .string()
    .regex(/^smtps?:\/\/[^/\s]+\/?$/, 'must be an address such as smtps://user:password@mail.example.com')
    .optional(),
  /** Sender of mails, such as `actlog <actlog@example.com>`. */
  mailFrom: singleLineName.optional(),
  /** Days after a sign-in for which its person can decide in Slack and receives notifications, with the groups of then. */
  channelSignInDays: z.number().min(0.01).max(365).default(7),
  /**
   * Issuers of tokens in the header `x-actlog-identity`, which verify the agents and principals of requests: a list, its
   * JSON, or the path of a file with it.
   */
  identityIssuers: issuersSetting.default([]),
  /**
   * Address of a trace in your tracer, such as `https://jaeger.example.com/trace/{traceId}`, to which the console and
   * cards link. `{spanId}` stands for the span. Default: none.
   */
  traceUrl: z
    .url({ protocol: /^https?$/, error: traceUrlForm })
    .refine((url) => url.includes('{traceId}') && !/\/\/[^/]*@/.test(url), traceUrlForm)
    .optional(),
  /** `true` to refuse events, spans and checks without a token that verifies their agent, with any key. */
  requireIdentity: trueOrFalse.default(false),
  /** `true` to serve the console and its API below `/console`. */
  console: trueOrFalse.default(true),
  /** Minimum level of log lines, which are JSON on standard output. */
  logLevel: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('silent'),
});

const consistent = configuration.superRefine((settings, { addIssue }) => {
  for (const { setting, message } of signInProblems(settings)) {
    addIssue({ code: 'custom', path: [setting], message });
  }
  for (const [setting, other] of [
    ['slackBotToken', 'slackSigningSecret'],
    ['slackSigningSecret', 'slackBotToken'],
    ['smtpUrl', 'mailFrom'],
    ['mailFrom', 'smtpUrl'],
  ] as const) {
    if (settings[setting] === undefined || settings[other] !== undefined) continue;
    addIssue({ code: 'custom', path: [other], message: `is required with ${setting}` });
  }
  if (settings.history !== undefined && !settings.keepLog) {
    const message = 'must be true with history, because the history follows the log';
    addIssue({ code: 'custom', path: ['keepLog'], message });
  }
  if (settings.history !== undefined && settings.forward.some(({ name }) => name === 'history')) {
    const message = 'must have no destination with the name "history", which is the name of the history';
    addIssue({ code: 'custom', path: ['forward'], message });
  }
  if (
    settings.requireIdentity &&
    !settings.identityIssuers.some(({ agents }) => Object.keys(agents).length > 0)
  ) {
    const message = 'needs identityIssuers with agents, because no token could verify an agent';
    addIssue({ code: 'custom', path: ['requireIdentity'], message });
  }
  if (!isPostgresUrl(settings.database)) {
    if (!isUnsupportedAddress(settings.database)) return;
    const message =
      'must be the path of an SQLite file, :memory:, or an address that begins with postgres://';
    addIssue({ code: 'custom', path: ['database'], message });
    return;
  }
  if (settings.secret === undefined) {
    const message =
      'is required with PostgreSQL, the same for every server of the database; create one with: openssl rand -base64 32';
    addIssue({ code: 'custom', path: ['secret'], message });
  }
  if (settings.maxDatabaseBytes !== undefined) {
    const message = 'applies to SQLite only; limit a PostgreSQL database on its own host';
    addIssue({ code: 'custom', path: ['maxDatabaseBytes'], message });
  }
});

/** Options of a server. All are optional. */
export type ServerOptions = z.input<typeof configuration>;

/** Options of a server with defaults filled in. */
export type Configuration = z.output<typeof configuration>;

/**
 * Validates options and fills in the defaults.
 *
 * @throws TypeError that names each invalid option and the reason.
 */
export function configured(options: ServerOptions): Configuration {
  const { data, error } = consistent.safeParse(options);
  if (error) throw optionsError("The server's", error);
  return data;
}
