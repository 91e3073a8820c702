// The gate, which a CI job runs after the tests of an agent:
//
//   node gate.ts --prefix ci-$GITHUB_RUN_ID- --fail-at high --forbid drop_table --junit risk.xml --summary "$GITHUB_STEP_SUMMARY"
//
// It reads ACTLOG_BASE_URL and ACTLOG_API_KEY; a key with the scope `read` is enough. Exit codes: 0 all
// sessions pass, 1 a session fails or the service does not respond, 2 there is no session, because an empty gate must not
// pass, or the arguments are invalid.
import { appendFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Actlog } from '@actlog/client';
import { annotations, junit, markdown } from './reports.ts';
import { judge, levels } from './verdict.ts';

const { values } = parseArgs({
  options: {
    prefix: { type: 'string' },
    'fail-at': { type: 'string', default: 'high' },
    forbid: { type: 'string', multiple: true, default: [] },
    'last-hours': { type: 'string', default: '24' },
    junit: { type: 'string' },
    summary: { type: 'string' },
  },
});
const failAt = levels.find((level) => level === values['fail-at']);
const lastHours = Number(values['last-hours']);
if (!values.prefix || failAt === undefined || !(lastHours > 0)) {
  console.error(`Required: --prefix, --fail-at ${levels.join('|')}, and --last-hours with a number above 0.`);
  process.exit(2);
}

const verdicts = await judge(new Actlog(), {
  prefix: values.prefix,
  startedAfter: new Date(Date.now() - lastHours * 3_600_000),
  failAt,
  forbidden: values.forbid,
});
if (values.junit) await writeFile(values.junit, junit(verdicts));
if (values.summary) await appendFile(values.summary, markdown(verdicts));
for (const line of annotations(verdicts)) console.log(line);

const failures = verdicts.filter(({ problems }) => problems.length > 0).length;
console.log(`risk gate: ${verdicts.length - failures} sessions pass, ${failures} fail`);
if (verdicts.length === 0)
  console.error(`No session id begins with ${values.prefix}. Check that the tests record.`);
process.exitCode = verdicts.length === 0 ? 2 : failures > 0 ? 1 : 0;
