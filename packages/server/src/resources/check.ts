import type { CheckResponse } from '@actlog/policy';
import { checkPreference, headers } from '@actlog/protocol';
import type { FastifyReply } from 'fastify';
import { authenticationFailed } from '../http/authentication.ts';
import type { Call, OwnRoute } from '../http/route.ts';
import { requireAgent } from '../keys/key-agents.ts';
import { validationError } from '../lib/api-error.ts';
import { Check } from '../policy/check.ts';
import { type DecidedCheck, decisionRow } from '../policy/decision-row.ts';
import { Matches, matchInTurns } from '../policy/matches.ts';
import type { Services } from '../services.ts';

/** Route `POST /v1/policies/check`. Waits for the decision, or runs dry, if the caller prefers that. */
export function checkAction(services: Services): OwnRoute<'policies.check'> {
  return {
    kind: 'own',
    memory: services.checkMemory,
    handle: (call, reply) => checkResponse(services, call, reply),
  };
}

async function checkResponse(
  services: Services,
  call: Call<'policies.check'>,
  reply: FastifyReply,
): Promise<CheckResponse> {
  // Conditions and approvers would not see these keys. The guard repeats the check without arguments.
  if (call.protoKeysRemoved) throw validationError('', 'proto_key', 'contains a key named __proto__');
  const { waitSeconds, isDryRun } = checkPreference(call.header(headers.prefer));
  if (isDryRun) {
    requireAgent(call.caller, call.body.agentId);
    void reply.header('preference-applied', 'dry-run');
    const decided = await dryRun(services, call);
    await keepDecision(services, call, decided, isDryRun);
    return decided.response;
  }
  await services.keyAgents.admit(call.caller, [call.body.agentId], call.body.parentAgentIds);
  const matches = new Matches();
  const decided = await runCheck(services, call, matches, call.receivedMs);
  await keepDecision(services, call, decided);
  const { response } = decided;
  if (waitSeconds === 0) return response;
  if (!isHeld(response)) {
    void reply.header('preference-applied', `wait=${waitSeconds}`);
    return response;
  }
  // Approvals take minutes, so waiting checks must leave room for new ones. Without room, the caller checks again
  // later.
  const room = services.waitMemory.tryReserve(call.bodyMemoryBytes);
  if (!room) return response;
  try {
    void reply.header('preference-applied', `wait=${waitSeconds}`);
    const later = await waitForDecision(
      services,
      call,
      matches,
      response.pendingActionId,
      waitSeconds * 1000,
    );
    // The key may have been revoked meanwhile.
    if (!(await services.requestGate.isCurrent(call.caller))) throw authenticationFailed();
    if (later.response.decision !== response.decision) await keepDecision(services, call, later);
    return later.response;
  } finally {
    room.release();
  }
}

/** Response to a check, with its policies and the time that it took. */
type Decided = Pick<DecidedCheck, 'response' | 'set' | 'durationMs'>;

/** Keeps a decision in the log. The caller gets the response only if that succeeds. */
function keepDecision(
  { decisionLog }: Services,
  { caller: { tenantId }, body }: Call<'policies.check'>,
  decided: Decided,
  isDryRun = false,
): Promise<void> {
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
  services: Services,
  call: Call<'policies.check'>,
  matches: Matches,
  heldId: string,
  waitMs: number,
): Promise<Decided> {
  const { decisions } = services;
  const endsAt = performance.now() + waitMs;
  // Listening begins before the first read of the action, so that no decision is missed.
  const listener = decisions.listen(heldId);
  try {
    // A wake-up may have another cause, so the action is read again after each.
    for (;;) {
      const decided = await runCheck(services, call, matches, Date.now(), heldId);
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

function dryRun(services: Services, call: Call<'policies.check'>): Promise<Decided> {
  const { tenantId, scopes } = call.caller;
  // Who manages policies tries them for an agent, not as one.
  const caller = scopes.has('manage') ? { ...call.caller, isShared: true } : call.caller;
  const matches = new Matches();
  return inTurns(services, call, matches, () => {
    const check = new Check(services, caller, call.body, call.receivedMs, matches);
    return decide(check, () => services.storage.read(tenantId, (db) => check.respondDry(db)));
  });
}

async function decide(check: Check, respond: () => Promise<CheckResponse>): Promise<Decided> {
  const startedAt = performance.now();
  const response = await respond();
  return { response, set: check.policySet, durationMs: performance.now() - startedAt };
}

function runCheck(
  services: Services,
  call: Call<'policies.check'>,
  matches: Matches,
  nowMs: number,
  heldId?: string,
): Promise<Decided> {
  const { tenantId } = call.caller;
  return inTurns(services, call, matches, () => {
    const check = new Check(services, call.caller, call.body, nowMs, matches, heldId);
    return decide(check, async () => {
      const read = await services.storage.read(tenantId, (db) => check.respondByReading(db));
      if (read) return read;
      return services.writeTurns.run(
        tenantId,
        () => services.storage.write(tenantId, (write) => check.respondByWriting(write)),
        call.disconnected,
      );
    });
  });
}

/** Runs one round of a check in the tenant's turn. */
function inTurns(
  { tenantTurns }: Services,
  { caller, disconnected }: Call<'policies.check'>,
  matches: Matches,
  response: () => Promise<Decided>,
): Promise<Decided> {
  return matchInTurns(tenantTurns, caller.tenantId, matches, disconnected, response);
}
