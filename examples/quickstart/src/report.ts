import type { Actlog } from '@actlog/client';

const color = process.stdout.isTTY && !process.env.NO_COLOR;
const bold = (text: string) => (color ? `\u001b[1m${text}\u001b[0m` : text);

function clock(timestamp: string | undefined): string {
  return timestamp?.slice(11, 23) ?? '';
}

/** Prints every session of the service with its events, its risk and the reasons. */
export async function report(client: Actlog): Promise<void> {
  for await (const session of client.sessions.list()) {
    console.log(`\n${bold(`Session ${session.id}`)}  (agent ${session.agentId})`);
    for await (const event of client.sessions.events(session.id)) {
      const { toolName, responseStatus, argumentsHash } = event.payload ?? {};
      const hash = String(argumentsHash).slice(0, 19);
      console.log(
        `  ${clock(event.sourceTimestamp)}  ${String(responseStatus)}  ${String(toolName).padEnd(16)} ${hash}…`,
      );
    }
    const risk = await client.sessions.risk(session.id);
    console.log(
      `  risk ${bold(`${risk.score} of 100, ${risk.level}`)}; without one of these it would be lower by`,
    );
    for (const factor of risk.factors ?? []) {
      console.log(`    ${factor.delta.toFixed(1).padStart(6)}  ${factor.title}`);
      console.log(`           ${factor.explanation}`);
    }
    for (const { title } of (risk.recommendations ?? []).slice(0, 3)) console.log(`    → ${title}`);
  }
}
