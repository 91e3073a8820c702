import type { Consumer } from './consumer.ts';

/** Uses of the client with types that users rely on. */
const code = `import { Actlog, ActlogError, type KnownEvent, type PendingAction, type SessionDetail } from '@actlog/client';
import { idOf, isKnownEvent, isToolCall } from '@actlog/client/records';
import { exportSessions, mapConcurrent } from '@actlog/client/scripts';

const client = new Actlog();
const session: SessionDetail = await client.sessions.get(7);
for (const event of session.events ?? []) if (isToolCall(event)) event.payload.toolName.toUpperCase();
for await (const event of client.sessions.events('s')) {
  if (isToolCall(event)) event.payload.toolName.toUpperCase();
  if (isKnownEvent(event) && event.category === 'llm_call') event.payload.model.toUpperCase();
  // @ts-expect-error the payload of an unchecked event is unknown
  event.payload.toolName.toUpperCase();
}
for await (const event of client.sessions.events('s').as<KnownEvent>()) {
  if (event.category === 'tool_api') event.payload.toolName.toUpperCase();
}
for await (const action of client.guardian.pendingActions.watch()) {
  const held: PendingAction = action;
  await client.guardian.pendingActions.decide(idOf(held), { decision: 'approve' });
}
for await (const risk of mapConcurrent(client.sessions.list(), ({ id }) => client.sessions.risk(id))) {
  risk.score?.toFixed();
}
const { resumed } = await exportSessions(client, 'sessions.jsonl', { query: { agentId: 'a' } });
resumed.toFixed();
const agent: { number: number } = await client.agents.get(7).as<{ number: number }>();
// @ts-expect-error the type of a result is not inferred from where it is used
const other: { number: number } = await client.agents.get(7);
try {
  agent.number = other.number;
} catch (error) {
  if (error instanceof ActlogError && error.code === 'RATE_LIMITED') error.retryAfterMs?.toFixed();
  if (error instanceof ActlogError && error.code === 'a-code-of-the-service') error.status?.toFixed();
}
`;

/** Compiles the typed reads against the packed client with each given compiler. */
export function compileTypedReads(consumer: Consumer, compilers: readonly string[]): void {
  consumer.write('typed-reads.mts', code);
  const options = [
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2024',
    '--strict',
    '--types',
    'node',
  ];
  for (const compiler of compilers) {
    consumer.run('node', [compiler, '--noEmit', '--skipLibCheck', ...options, 'typed-reads.mts']);
  }
}
