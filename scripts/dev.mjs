#!/usr/bin/env node
// Runs a task: `node scripts/dev.mjs TASK [ARGS]`.
// It has no dependencies and runs on old versions of Node, because it runs before anything is installed.
import { installationOf, parallelTasks, stepsOf, taskNames } from './tasks.mjs';
import { prepare, run, StepFailed, say } from './toolchain.mjs';

/** Steps at the same time: most of them use one core. */
const sideBySide = 2;

async function main([task, ...args]) {
  if (!taskNames.includes(task)) {
    throw new StepFailed(`There is no task "${task ?? ''}".`, `choose one of: ${taskNames.join(', ')}.`);
  }
  const { env, phases } = await prepare(installationOf(task, args));
  if (task === 'start' && args.includes('--timings')) {
    for (const [name, seconds] of phases) say(`  ${seconds.toFixed(1).padStart(6)} s  ${name}`);
  }
  const steps = stepsOf(task, args);
  if (parallelTasks.includes(task)) return runSideBySide(steps, env);
  for (const step of steps) {
    if (step.title) say(`\n▶ ${step.title}`);
    await runStep(step, { env });
  }
}

/** Runs a step to its end. */
async function runStep({ command, remedy }, options) {
  const [program, ...args] = command;
  const { code } = await run(program, args, options);
  if (code !== 0) throw new StepFailed(`"${command.join(' ')}" ended with exit code ${code}.`, remedy, code);
}

/** Runs steps as soon as those before them have ended; after a failure, only those that have begun. */
async function runSideBySide(steps, env) {
  const waiting = [...steps];
  const running = new Map();
  const open = new Set(steps.map(({ name }) => name));
  const failures = [];
  while (running.size > 0 || (waiting.length > 0 && failures.length === 0)) {
    const isReady = ({ after }) => !after.some((name) => open.has(name));
    while (running.size < sideBySide && failures.length === 0 && waiting.some(isReady)) {
      const [step] = waiting.splice(waiting.findIndex(isReady), 1);
      const ended = runInOnePiece(step, env)
        .catch((error) => failures.push(error))
        .finally(() => {
          running.delete(step.name);
          open.delete(step.name);
        });
      running.set(step.name, ended);
    }
    await Promise.race(running.values());
  }
  for (const error of failures.slice(1)) say(`\n✗ ${error.message}`);
  if (failures.length > 0) throw failures[0];
}

async function runInOnePiece(step, env) {
  const startedAt = Date.now();
  let output = '';
  try {
    await runStep(step, { env, onOutput: (text) => (output += text) });
  } finally {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    say(`\n▶ ${step.title}: ${seconds} s`);
    if (output.trim() !== '') say(output.trimEnd());
  }
}

main(process.argv.slice(2)).catch((error) => {
  say(`\n✗ ${error instanceof StepFailed ? error.message : error.stack}`);
  process.exitCode = error.exitCode ?? 1;
});
