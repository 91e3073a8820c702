import type { Actlog } from '@actlog/client';
import { getSessionMarks } from '@actlog/client/server';

const color = process.stdout.isTTY && !process.env.NO_COLOR;
const styled = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = styled(1);
const red = styled(31);
const green = styled(32);

type Session = Pick<Awaited<ReturnType<Actlog['sessions']['get']>>, 'id' | 'agentId'>;
type Risk = Awaited<ReturnType<Actlog['sessions']['risk']>>;

/** Prints one session: its risk and what happened, its calls, and the reasons of a raised risk. */
async function printSession(client: Actlog, session: Session, risk: Risk, verbose: boolean): Promise<void> {
  const isFine = risk.level === 'low';
  const paint = isFine ? green : red;
  const verdict = paint(
    bold(`${isFine ? '✓' : '✗'} ${risk.level} risk, ${Math.floor(Number(risk.score))} of 100`),
  );
  const calls: { tool: string; status: number; hash: string }[] = [];
  for await (const { category, payload } of client.sessions.events(session.id)) {
    if (category !== 'tool_api') continue; // origins of arguments are events of their own
    const { toolName, responseStatus, argumentsHash } = payload ?? {};
    calls.push({ tool: String(toolName), status: Number(responseStatus), hash: String(argumentsHash) });
  }
  const { sentence } = await getSessionMarks(client, session.id);
  console.log(`\n${verdict}  ${bold(session.id)}, by ${session.agentId}`);
  console.log(`  ${sentence}`);
  for (const { tool, status, hash } of calls) {
    console.log(`    ${status}  ${tool.padEnd(18)}${verbose ? `${hash.slice(0, 19)}…` : ''}`.trimEnd());
  }
  if (isFine && !verbose) return;
  console.log('  Why:');
  for (const { title, explanation, delta } of (risk.factors ?? []).slice(0, verbose ? undefined : 2)) {
    console.log(verbose ? `    ${delta.toFixed(1).padStart(5)}  ${title}: ${explanation}` : `    ${title}`);
  }
  const [advice] = risk.recommendations ?? [];
  if (advice) console.log(`  What to do: ${advice.title}`);
}

/**
 * Prints every session of the service, the riskiest last.
 *
 * @param options `verbose` adds hashes of arguments, every reason and its share of the score
 */
export async function report(client: Actlog, { verbose }: { readonly verbose: boolean }): Promise<void> {
  const scored: { session: Session; risk: Risk }[] = [];
  for await (const session of client.sessions.list()) {
    scored.push({ session, risk: await client.sessions.risk(session.id) });
  }
  scored.sort((one, other) => Number(one.risk.score) - Number(other.risk.score));
  for (const { session, risk } of scored) await printSession(client, session, risk, verbose);
}
