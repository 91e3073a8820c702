import { setTimeout as delay } from 'node:timers/promises';
import { endpointNames, endpoints } from '@actlog/protocol';
import type { Check } from './check.ts';
import { checks as allChecks } from './checks.ts';
import { ContractError, type ContractOptions, type Settings } from './contract-options.ts';
import type {
  CheckReport,
  CheckStatus,
  ContractReport,
  RequirementResult,
  RequirementStatus,
} from './contract-report.ts';
import { isObject } from './http/api-response.ts';
import { Probe } from './http/probe.ts';
import { Failure, Skip } from './outcome.ts';
import { capabilities, type Requirement } from './requirement.ts';
import { requirementOfEndpoint } from './requirements/endpoints.ts';
import { requirements as allRequirements, requirements } from './requirements.ts';
import { Run } from './run.ts';
import { version } from './version.ts';
import { defaultBodies } from './world/default-bodies.ts';

/** Maximum length of a check's detail in a report, in characters: a response may contain a tenant's data. */
const longestDetail = 600;

/**
 * Checks a deployment against the specification and returns the result of every requirement.
 *
 * Everything that it creates in the deployment has a common name prefix. Policies are archived at the end, and held
 * actions are decided.
 *
 * @throws {@link ContractError} if an option is invalid, the deployment does not respond, or it rejects the key.
 */
export async function runContract(options: ContractOptions): Promise<ContractReport> {
  const settings = resolveSettings(options);
  const run = new Run(settings);
  const startedMs = Date.now();
  await meet(run);
  const chosen = allRequirements.filter((requirement) => isChosen(requirement, settings));
  const ids = new Set(chosen.map(({ id }) => id));
  const checks = allChecks.filter(({ requirement }) => ids.has(requirement));
  const ordered = [...checks.filter(({ last }) => !last), ...checks.filter(({ last }) => last)];
  const results = new Map<Check, CheckReport>();
  try {
    if (!settings.readOnly && checks.some(({ safe }) => !safe))
      await run.traffic.prepare().catch(rethrowFatal);
    for (const check of ordered) {
      results.set(check, await outcomeOf(run, check, chosen));
      settings.onProgress(results.size, ordered.length);
    }
  } catch (error) {
    throw withLeftovers(error, run, await cleanUp(run, settings));
  }
  const complete = !settings.signal.aborted;
  const leftBehind = await cleanUp(run, settings);
  const requirementResults = chosen.map((requirement) =>
    requirementResult(
      requirement,
      checks.filter((check) => check.requirement === requirement.id).flatMap((one) => results.get(one) ?? []),
    ),
  );
  const counts = countsOf(requirementResults);
  const uncheckedEndpoints = uncheckedEndpointsOf(requirementResults);
  const mayBeUnchecked = settings.readOnly || settings.limitedKey;
  const isChecked =
    (mayBeUnchecked || uncheckedEndpoints.length === 0) && !(settings.strict && counts.mustUnchecked > 0);
  return {
    suite: `@actlog/contract/${version}`,
    baseURL: settings.baseURL,
    capabilities: [...settings.capabilities],
    readOnly: settings.readOnly,
    prefix: run.prefix,
    startedAt: new Date(startedMs).toISOString(),
    durationMs: Date.now() - startedMs,
    requests: run.probe.responses.length,
    limitedKey: settings.limitedKey,
    uncheckedEndpoints,
    strict: settings.strict,
    ok: complete && counts.mustFailed === 0 && isChecked,
    complete,
    counts,
    requirements: requirementResults,
    leftBehind: leftBehind.map((text) => run.redaction.text(text)),
  };
}

/** Checks that the deployment responds and accepts the key. */
async function meet({ probe, settings }: Run): Promise<void> {
  const { status } = await probe.call('sessions.list', { query: { limit: 1 } });
  if (status === 401) {
    throw new ContractError(
      'KEY_REFUSED',
      `${settings.baseURL} rejected the API key; pass a key of this deployment.`,
    );
  }
}

/** Leaves an error to the check that has the same cause, unless it ends the run. */
function rethrowFatal(error: unknown): void {
  if (error instanceof ContractError) throw error;
}

function isChosen({ id, capability }: Requirement, { only, capabilities }: Settings): boolean {
  if (capability !== undefined && !capabilities.has(capability)) return false;
  return only.length === 0 || only.some((part) => id.startsWith(part));
}

async function outcomeOf(run: Run, check: Check, chosen: readonly Requirement[]): Promise<CheckReport> {
  const { name } = check;
  const result = (status: CheckStatus, detail?: string): CheckReport => ({
    name,
    status,
    ...(detail !== undefined && { detail: run.redaction.text(shortened(detail)) }),
  });
  if (run.settings.signal.aborted) return result('skipped', 'the run was stopped');
  if (run.settings.readOnly && !check.safe)
    return result('skipped', 'the check writes, but the run is read-only');
  const isOpen = chosen.find(({ id }) => id === check.requirement)?.level === 'OPEN';
  try {
    return result(isOpen ? 'noted' : 'passed', await check.run(run));
  } catch (error) {
    if (error instanceof ContractError) throw error;
    if (error instanceof Skip || run.settings.signal.aborted)
      return result('skipped', (error as Error).message);
    if (isOpen) return result('noted', `could not be observed: ${(error as Error).message}`);
    if (error instanceof Failure) return result('failed', error.message);
    return result('failed', `the response could not be evaluated: ${(error as Error).message}`);
  }
}

function shortened(text: string): string {
  return text.length > longestDetail ? `${text.slice(0, longestDetail)}…` : text;
}

/** Returns the error that ended a run early, extended by the records that the run left in the deployment. */
function withLeftovers(error: unknown, { prefix, redaction }: Run, leftBehind: readonly string[]): unknown {
  if (!(error instanceof ContractError) || leftBehind.length === 0) return error;
  const left = redaction.text(leftBehind.join(', '));
  return new ContractError(error.code, `${error.message} Left behind with the prefix ${prefix}-…: ${left}.`, {
    cause: error,
  });
}

/** Cleans up everything possible, even if the run was stopped, and returns what is left. */
async function cleanUp(run: Run, settings: Settings): Promise<string[]> {
  const probe = new Probe({ ...settings, signal: new AbortController().signal });
  const left: string[] = [];
  for (const part of [run.guardian, run.records]) {
    left.push(...(await part.cleanUp(probe).catch((error: Error) => [error.message])));
  }
  const { agents, notificationChannels, policies } = run.records.counts;
  const counted: readonly (readonly [number, string])[] = [
    [run.traffic.taken, 'events'],
    [agents, 'agents'],
    [policies, left.length === 0 ? 'archived policies' : 'policies'],
    [notificationChannels, 'webhooks'],
  ];
  return [...counted.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`), ...left];
}

/** Returns the result of a requirement from the results of its checks. */
function requirementResult(
  { id, level, section, text }: Requirement,
  checks: readonly CheckReport[],
): RequirementResult {
  return { id, level, section, text, status: statusOf(checks), checks };
}

function statusOf(checks: readonly CheckReport[]): RequirementStatus {
  const has = (status: string) => checks.some((check) => check.status === status);
  if (has('failed')) return 'failed';
  if (has('skipped')) return checks.every(({ status }) => status === 'skipped') ? 'skipped' : 'partial';
  if (has('passed')) return 'passed';
  return has('noted') ? 'noted' : 'skipped';
}

/** Returns the endpoints, such as `POST /v1/agents`, of which no check could run. */
function uncheckedEndpointsOf(results: readonly RequirementResult[]): string[] {
  return endpointNames.flatMap((name) => {
    const result = results.find(({ id }) => id === requirementOfEndpoint[name]);
    return result?.status === 'skipped' ? [`${endpoints[name].method} ${endpoints[name].path}`] : [];
  });
}

/** Counts requirements by status. */
function countsOf(results: readonly RequirementResult[]): ContractReport['counts'] {
  const count = (test: (result: RequirementResult) => boolean) => results.filter(test).length;
  const of = (status: RequirementStatus) => count((result) => result.status === status);
  return {
    passed: of('passed'),
    failed: of('failed'),
    partial: of('partial'),
    skipped: of('skipped'),
    noted: of('noted'),
    mustFailed: count(({ status, level }) => status === 'failed' && level === 'MUST'),
    shouldFailed: count(({ status, level }) => status === 'failed' && level === 'SHOULD'),
    mustUnchecked: count(
      ({ status, level }) => level === 'MUST' && (status === 'skipped' || status === 'partial'),
    ),
  };
}

/** Names of the bodies that can be given; the specification fixes the body of an event. */
const bodyNames = Object.keys(defaultBodies);

/** Characters that a key may contain in a header (RFC 9110, section 5.5). */
const visible = /^[\x21-\x7e]+$/;

/**
 * Validates the options of a run and applies the defaults.
 *
 * @throws {@link ContractError} `USAGE` for an invalid option.
 */
function resolveSettings(options: ContractOptions): Settings {
  const only = options.only ?? [];
  for (const part of only) {
    if (!requirements.some(({ id }) => id.startsWith(part))) {
      throw usage(`only: "${part}" matches no requirement; run "actlog conformance --list" for a list.`);
    }
  }
  for (const name of options.capabilities ?? []) {
    if (!capabilities.includes(name))
      throw usage(`capability: must be one of ${capabilities.join(', ')}, got "${name}".`);
  }
  const { bodies = {} } = options;
  if (!isObject(bodies)) throw usage('bodies must be an object with the bodies by endpoint.');
  for (const name of Object.keys(bodies)) {
    if (!bodyNames.includes(name))
      throw usage(`bodies: unknown endpoint "${name}"; use one of ${bodyNames.join(', ')}.`);
  }
  return {
    baseURL: resolveBaseURL(options),
    apiKey: resolveKey('apiKey', options.apiKey) ?? '',
    secondTenantKey: resolveKey('secondTenantKey', options.secondTenantKey),
    retiredKey: resolveKey('retiredKey', options.retiredKey),
    capabilities: new Set(options.capabilities),
    readOnly: options.readOnly ?? false,
    limitedKey: options.limitedKey ?? false,
    strict: options.strict ?? false,
    only,
    bodies,
    burst: wholeNumber('burst', options.burst ?? 0, 0, 100_000),
    timeoutMs: wholeNumber('timeoutMs', options.timeoutMs ?? 30_000, 1, 600_000),
    settleMs: wholeNumber('settleMs', options.settleMs ?? 10_000, 0, 600_000),
    maxRetryAfterMs: wholeNumber('maxRetryAfterMs', options.maxRetryAfterMs ?? 60_000, 0, 3_600_000),
    maxPages: wholeNumber('maxPages', options.maxPages ?? 50, 2, 10_000),
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    signal: options.signal ?? new AbortController().signal,
    onProgress: options.onProgress ?? (() => {}),
    clock: options.clock ?? { sleep: (delayMs, signal) => delay(delayMs, undefined, { signal }) },
  };
}

function resolveBaseURL({ baseURL, allowInsecureHttp }: ContractOptions): string {
  if (!baseURL)
    throw usage('baseURL is missing: pass it, or set --base-url or ACTLOG_BASE_URL for the command.');
  const url = URL.canParse(String(baseURL)) ? new URL(String(baseURL)) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw usage('baseURL must be an http or https URL such as https://actlog.example.com.');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw usage('baseURL must not contain a user name, a query or a fragment.');
  }
  const isLoopback = /^(localhost|.*\.localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && !allowInsecureHttp) {
    throw usage(
      `baseURL would send the API key unencrypted to ${url.host}: use https, or allow it (--allow-insecure-http) ` +
        'if the network is trusted.',
    );
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  if (prefix.endsWith('/v1')) throw usage('baseURL must not end in /v1.');
  return url.origin + prefix;
}

function resolveKey(name: string, key: string | undefined): string | undefined {
  if (key === undefined && name !== 'apiKey') return undefined;
  if (key === undefined || (key === '' && name === 'apiKey'))
    throw usage('apiKey is missing: pass it, or set ACTLOG_API_KEY for the command.');
  if (!visible.test(key))
    throw usage(
      `${name} must not be empty or contain white space or characters that are invalid in a header.`,
    );
  return key;
}

function wholeNumber(name: string, value: number, minimum: number, maximum: number): number {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw usage(`${name} must be a whole number from ${minimum} to ${maximum}.`);
}

function usage(message: string): ContractError {
  return new ContractError('USAGE', message);
}
