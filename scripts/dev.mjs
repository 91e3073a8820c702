#!/usr/bin/env node
// Runs a task: `node scripts/dev.mjs TASK [ARGS]`.
// It has no dependencies and runs on old versions of Node, because it runs before anything is installed.
import { installationOf, stepsOf, taskNames } from './tasks.mjs';
import { prepare, run, StepFailed, say } from './toolchain.mjs';

async function main([task, ...args]) {
  if (!taskNames.includes(task)) {
    throw new StepFailed(`There is no task "${task ?? ''}".`, `choose one of: ${taskNames.join(', ')}.`);
  }
  const { env, phases } = await prepare(installationOf(task, args));
  if (task === 'start' && args.includes('--timings')) {
    for (const [name, seconds] of phases) say(`  ${seconds.toFixed(1).padStart(6)} s  ${name}`);
  }
  for (const step of stepsOf(task, args)) {
    const [command, ...stepArgs] = step.command;
    if (step.title) say(`\n▶ ${step.title}`);
    const { code } = await run(command, stepArgs, { env });
    if (code !== 0) {
      throw new StepFailed(`"${step.command.join(' ')}" ended with exit code ${code}.`, step.remedy, code);
    }
  }
}

main(process.argv.slice(2)).catch((error) => {
  say(`\n✗ ${error instanceof StepFailed ? error.message : error.stack}`);
  process.exitCode = error.exitCode ?? 1;
});
