import { type CheckResponse, checkPreference, type IdentifiedCheck, isSamePerson } from '@actlog/policy';
import { headers } from '@actlog/protocol';
import { parseTraceparent } from '@actlog/tool-call';
import type { FastifyReply } from 'fastify';
import type { RequestMemory } from '../http/limits/request-memory.ts';
import { authenticationFailed, type RequestGate } from '../http/request-gate.ts';
import type { Call, OwnRoute } from '../http/route.ts';
import { ApiError, validationError } from '../lib/api-error.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import { Check, type CheckParts } from '../policy/check.ts';
import { type DecidedCheck, decisionRow } from '../policy/decision-log.ts';
import { Matches, matchInTurns } from '../policy/matching.ts';
import type { Storage } from '../storage/storage.ts';
import { type KeyAgents, requireAgent } from '../tenants/key-ring.ts';
import type { VerifiedCallers } from '../tenants/verified-callers.ts';

/** Parts of {@link checkAction}. */
export interface CheckRouteParts extends CheckParts {
  readonly storage: Storage;
  /** Agents that each key acts as. */
  readonly keyAgents: KeyAgents;
  readonly verifiedCallers: VerifiedCallers;
  readonly requestGate: RequestGate;
  /** Shares the event loop between the checks of tenants. */
  readonly tenantTurns: TenantTurns;
  /** Shares the writing connections between the checks and changes of tenants. */
  readonly writeTurns: TenantTurns;
  /** Limits the memory of checks, including those that wait for a decision. */
  readonly checkMemory: RequestMemory;
  /** Limits the part of it for checks that wait for a decision, which leaves room for new checks. */
  readonly waitMemory: RequestMemory;
}

/** Route `POST /v1/policies/check`. Waits for the decision, or runs dry, if the caller prefers that. */
export function checkAction(parts: CheckRouteParts): OwnRoute<'policies.check'> {
  return {
    kind: 'own',
    memory: parts.checkMemory,
    handle: async (call, reply) => checkResponse(parts, await identifiedCall(parts, tracedCall(call)), reply),
  };
}

/** A check with what the service knows of its caller. */
type CheckCall = Omit<Call<'policies.check'>, 'body'> & { readonly body: IdentifiedCheck };

/** Returns a check with the trace of its call. The call waits for the check, so the request is in the same trace. */
function tracedCall(call: CheckCall): CheckCall {
  const traceparent = [headers.callTraceparent, headers.traceparent]
    .map((name) => call.header(name))
    .filter((value) => value !== undefined)
    .map(parseTraceparent)
    .find((found) => found !== undefined);
  return traceparent === undefined ? call : { ...call, body: { ...call.body, traceparent } };
}

/**
 * Returns a check with the identity that its token verifies. A principal of the token replaces the one in the check.
 *
 * @throws ApiError for a token that is not accepted, or that names another agent or principal than the check.
 */
async function identifiedCall({ verifiedCallers }: CheckRouteParts, call: CheckCall): Promise<CheckCall> {
  const { caller, body } = call;
  const token = call.header(headers.identity);
  // Who manages policies tries them for an agent, not as one.
  const triesOnly = caller.scopes.has('manage') && checkPreference(call.header(headers.prefer)).isDryRun;
  const isRequired = caller.requiresIdentity && !triesOnly;
  if (token === undefined && !isRequired) return call;
  const verified = await verifiedCallers.of(token, isRequired, [body.agentId]);
  if (!verified) return call;
  const { identity, principal = body.principal } = verified;
  if (body.principal !== undefined && principal !== undefined && !isSamePerson(principal, body.principal)) {
    throw new ApiError(
      'PERMISSION_DENIED',
      `The token in ${headers.identity} names another principal than the check. Leave out "principal", or send a token for that person.`,
    );
  }
  return { ...call, body: { ...body, ...(principal !== undefined && { principal }), identity } };
}

async function checkResponse(
  parts: CheckRouteParts,
  call: CheckCall,
  reply: FastifyReply,
): Promise<CheckResponse> {
  // Conditions and approvers would not see these keys. The guard repeats the check without arguments.
  if (call.protoKeysRemoved) throw validationError('', 'proto_key', 'contains a key named __proto__');
  if (call.body.action.changedFrom !== undefined && call.body.actionId === undefined) {
    throw validationError('action.changedFrom', 'no_action', 'needs the actionId of the requested action');
  }
  const { waitSeconds, isDryRun } = checkPreference(call.header(headers.prefer));
  if (isDryRun) {
    requireAgent(call.caller, call.body.agentId);
    void reply.header('preference-applied', 'dry-run');
    const decided = await dryRun(parts, call);
    await keepDecision(parts, call, decided, isDryRun);
    return decided.response;
  }
  await parts.keyAgents.admit(call.caller, [call.body.agentId], call.body.parentAgentIds);
  const matches = new Matches();
  const decided = await runCheck(parts, call, matches, call.receivedMs);
  await keepDecision(parts, call, decided);
  const { response } = decided;
  if (waitSeconds === 0) return response;
  if (!isHeld(response)) {
    void reply.header('preference-applied', `wait=${waitSeconds}`);
    return response;
  }
  // Approvals take minutes, so waiting checks must leave room for new ones. Without room, the caller checks again
  // later.
  const room = parts.waitMemory.tryReserve(call.bodyMemoryBytes);
  if (!room) return response;
  try {
    void reply.header('preference-applied', `wait=${waitSeconds}`);
    const later = await waitForDecision(parts, call, matches, response.pendingActionId, waitSeconds * 1000);
    // The key may have been revoked meanwhile.
    if (!(await parts.requestGate.isCurrent(call.caller))) throw authenticationFailed();
    if (later.response.decision !== response.decision) await keepDecision(parts, call, later);
    return later.response;
  } finally {
    room.release();
  }
}

/** Response to a check, with its policies and the time that it took. */
type Decided = Pick<DecidedCheck, 'response' | 'set' | 'durationMs'>;

/** Keeps a decision in the log. The caller gets the response only if that succeeds. */
function keepDecision(
  { decisionLog }: CheckRouteParts,
  { caller: { tenantId }, body }: CheckCall,
  decided: Decided,
  isDryRun = false,
): Promise<void> {
  // The agent checks the changed arguments next, and that decision is kept.
  if (decided.response.changedArguments !== null) return Promise.resolve();
  return decisionLog.keep(decisionRow({ tenantId, check: body, isDryRun, ...decided }));
}

/** A response that a decision can change. */
type HeldResponse = CheckResponse & { readonly pendingActionId: string; readonly expiresAt: string };

function isHeld(response: CheckResponse): response is HeldResponse {
  return (
    response.decision === 'require_approval' &&
    response.pendingActionId !== null &&
    response.expiresAt !== null
  );
}

/** Returns the response once the action is decided, or when the wait ends. Independent of changes of the clock. */
async function waitForDecision(
  parts: CheckRouteParts,
  call: CheckCall,
  matches: Matches,
  heldId: string,
  waitMs: number,
): Promise<Decided> {
  const { decisions } = parts;
  const endsAt = performance.now() + waitMs;
  // Listening begins before the first read of the action, so that no decision is missed.
  const listener = decisions.listen(heldId);
  try {
    // A wake-up may have another cause, so the action is read again after each.
    for (;;) {
      const decided = await runCheck(parts, call, matches, Date.now(), heldId);
      const { response } = decided;
      const leftMs = endsAt - performance.now();
      const isSame = response.pendingActionId === heldId;
      if (!isHeld(response) || !isSame || leftMs <= 0 || call.disconnected().aborted || decisions.isClosed)
        return decided;
      const livesMs = Date.parse(response.expiresAt) - Date.now();
      await listener.waitForChange(Math.max(1, Math.min(leftMs, livesMs)), call.disconnected());
    }
  } finally {
    listener.end();
  }
}

function dryRun(parts: CheckRouteParts, call: CheckCall): Promise<Decided> {
  const { tenantId, scopes } = call.caller;
  // Who manages policies tries them for an agent, not as one.
  const caller = scopes.has('manage') ? { ...call.caller, isShared: true } : call.caller;
  const matches = new Matches();
  return inTurns(parts, call, matches, () => {
    const check = new Check(parts, caller, call.body, call.receivedMs, matches);
    return decide(check, () => parts.storage.read(tenantId, (db) => check.respondDry(db)));
  });
}

async function decide(check: Check, respond: () => Promise<CheckResponse>): Promise<Decided> {
  const startedAt = performance.now();
  const response = await respond();
  return { response, set: check.policySet, durationMs: performance.now() - startedAt };
}

function runCheck(
  parts: CheckRouteParts,
  call: CheckCall,
  matches: Matches,
  nowMs: number,
  heldId?: string,
): Promise<Decided> {
  const { tenantId } = call.caller;
  return inTurns(parts, call, matches, () => {
    const check = new Check(parts, call.caller, call.body, nowMs, matches, heldId);
    return decide(check, async () => {
      const read = await parts.storage.read(tenantId, (db) => check.respondByReading(db));
      if (read) return read;
      return parts.writeTurns.run(
        tenantId,
        () => parts.storage.write(tenantId, (write) => check.respondByWriting(write)),
        call.disconnected,
      );
    });
  });
}

/** Runs one round of a check in the tenant's turn. */
function inTurns(
  { tenantTurns }: CheckRouteParts,
  { caller, disconnected }: CheckCall,
  matches: Matches,
  response: () => Promise<Decided>,
): Promise<Decided> {
  return matchInTurns(tenantTurns, caller.tenantId, matches, disconnected, response);
}
