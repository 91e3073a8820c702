import { checkPreference, headers } from '@actlog/protocol';
import type { FastifyReply } from 'fastify';
import { validationError } from '../http/api-error.ts';
import { authenticationFailed } from '../http/authentication.ts';
import type { Call, OwnRoute } from '../http/route.ts';
import { Check, type CheckAnswer } from '../policy/check.ts';
import { Matches } from '../policy/matches.ts';
import type { Services } from '../services.ts';

/** `POST /v1/policies/check`, held until the decision when the caller prefers to wait, or a dry run. */
export function checkAction(services: Services): OwnRoute<'policies.check'> {
  return {
    kind: 'own',
    memory: services.checkMemory,
    handle: (call, reply) => answerOf(services, call, reply),
  };
}

async function answerOf(
  services: Services,
  call: Call<'policies.check'>,
  reply: FastifyReply,
): Promise<CheckAnswer> {
  // Neither a condition nor a person would see what the tool is given; the guard asks again without its arguments.
  if (call.protoKeysRemoved) throw validationError('', 'proto_key', 'holds a key named __proto__');
  const { waitSeconds, isDryRun } = checkPreference(call.header(headers.prefer));
  if (isDryRun) {
    void reply.header('preference-applied', 'dry-run');
    return dryRun(services, call);
  }
  const matches = new Matches();
  const answer = await ask(services, call, matches, call.receivedMs);
  if (waitSeconds === 0) return answer;
  if (!isHeld(answer)) {
    void reply.header('preference-applied', `wait=${waitSeconds}`);
    return answer;
  }
  // A person takes minutes, and those who wait must leave room for those who ask. Who has none asks again later.
  const room = services.waitMemory.tryHold(call.bodyMemoryBytes);
  if (!room) return answer;
  try {
    void reply.header('preference-applied', `wait=${waitSeconds}`);
    const decided = await decidedAnswer(services, call, matches, answer.pendingActionId, waitSeconds * 1000);
    // Somebody may have revoked the key meanwhile, so that nothing is let through any more.
    if (!(await services.keys.isCurrent(call.caller))) throw authenticationFailed();
    return decided;
  } finally {
    room.release();
  }
}

/** An answer that a person's decision may change. */
type HeldAnswer = CheckAnswer & { readonly pendingActionId: string; readonly expiresAt: string };

function isHeld(answer: CheckAnswer): answer is HeldAnswer {
  return (
    answer.decision === 'require_approval' && answer.pendingActionId !== null && answer.expiresAt !== null
  );
}

/** The answer once the action is decided, or as it is when the wait is over, however the clock is set meanwhile. */
async function decidedAnswer(
  services: Services,
  call: Call<'policies.check'>,
  matches: Matches,
  heldId: string,
  waitMs: number,
): Promise<CheckAnswer> {
  const { decisions } = services;
  const endsAt = performance.now() + waitMs;
  // A decision may have fallen after the first look, so the look that counts comes when the listening has begun.
  const listening = decisions.listen(heldId);
  try {
    // A wake-up may be about something else, so each is followed by a look; every round ends at the deadline.
    for (;;) {
      const answer = await ask(services, call, matches, Date.now(), heldId);
      const leftMs = endsAt - performance.now();
      const isSame = answer.pendingActionId === heldId;
      if (!isHeld(answer) || !isSame || leftMs <= 0 || call.gone().aborted || decisions.isClosed)
        return answer;
      const livesMs = Date.parse(answer.expiresAt) - Date.now();
      await listening.heard(Math.max(1, Math.min(leftMs, livesMs)), call.gone());
    }
  } finally {
    listening.end();
  }
}

function dryRun(
  services: Services,
  { caller: { tenantId }, body, receivedMs }: Call<'policies.check'>,
): Promise<CheckAnswer> {
  const check = new Check(services, tenantId, body, receivedMs, new Matches());
  return services.storage.read(tenantId, (db) => check.answerDry(db));
}

async function ask(
  services: Services,
  { caller: { tenantId }, body }: Call<'policies.check'>,
  matches: Matches,
  nowMs: number,
  heldId?: string,
): Promise<CheckAnswer> {
  const check = new Check(services, tenantId, body, nowMs, matches, heldId);
  const read = await services.storage.read(tenantId, (db) => check.answerByReading(db));
  return read ?? services.storage.write(tenantId, (write) => check.answerByWriting(write));
}
