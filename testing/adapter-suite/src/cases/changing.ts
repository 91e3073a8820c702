import { hashArguments } from '@actlog/recorder';
import { expect } from 'vitest';
import { type AdapterCase, type CaseContext, echoes, receivedText, suiteTools } from '../adapter-case.ts';

/** Cases about approvals with changed arguments. The policy that holds `echo` permits any text. */
export const changingCases: readonly AdapterCase[] = [
  {
    name: 'held, then approved with changes: it runs once, with the changed arguments',
    appliesTo: ({ holds, changes }) => holds && changes !== false,
    check: (context) => checkChanged(context, false),
  },
  {
    name: 'streamed, then approved with changes: it runs once, with the changed arguments',
    appliesTo: ({ holds, changes, streams }) => holds && changes !== false && streams,
    check: (context) => checkChanged(context, true),
  },
  {
    name: 'where changed arguments cannot be run, an approval with changes is refused',
    appliesTo: ({ holds, changes }) => holds && changes === false,
    async check(context) {
      const { service, sessionId } = context;
      const { ran, run } = startHeld(context, false);
      const { id, action } = await service.held(sessionId);
      expect(action?.acceptsChanges).toBeUndefined();
      const { pendingActions } = service.client.guardian;
      const changedArguments = { text: 'y' };
      await expect(
        pendingActions.decide(id, { decision: 'approve', changedArguments }),
      ).rejects.toMatchObject({ status: 400 });
      await pendingActions.decide(id, { decision: 'approve' });
      await run;
      expect(ran).toEqual(['echo x']);
    },
  },
];

/** Starts a run whose only call needs approval, and shows its arguments. */
function startHeld({ harness, service, sessionId }: CaseContext, isStreamed: boolean) {
  const { all, ran } = suiteTools();
  const showArguments = (args: unknown) => args as Record<string, unknown>;
  const adapter = { recorder: service.guarded({ showArguments }) };
  const run = harness.run({ tools: all, turns: [echoes('x')], sessionId, adapter, isStreamed });
  return { ran, run };
}

async function checkChanged(context: CaseContext, isStreamed: boolean): Promise<void> {
  const { harness, service, sessionId } = context;
  const { ran, run } = startHeld(context, isStreamed);
  const { id } = await service.held(sessionId);
  await service.client.guardian.pendingActions.decide(id, {
    decision: 'approve',
    changedArguments: { text: 'y' },
  });
  const ending = await run;
  expect(ran).toEqual(['echo y']);
  expect(ending.error).toBeUndefined();
  expect(receivedText(ending)).toContain('echo: y');
  if (harness.abilities.changes === 'noticed') expect(receivedText(ending)).toContain('text = "y"');
  const [event, ...others] = await service.storedEvents(sessionId);
  expect(others).toEqual([]);
  const [approved] = await service.approved(sessionId);
  expect(approved?.executedHash).toBe(await hashArguments({ text: 'y' }));
  expect(event?.payload).toMatchObject({ responseStatus: 200, argumentsHash: approved?.executedHash });
}
