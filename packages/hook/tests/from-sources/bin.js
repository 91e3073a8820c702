// The command `actlog` from its sources, as one path that an agent can start. Claude Code removes NODE_OPTIONS from the
// environment of its hooks, so the condition that finds the sources is set here.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    nextResolve(specifier, { ...context, conditions: ['@actlog/source', ...context.conditions] }),
});
// The hook passes its flags on to the process that delivers.
process.execArgv.push('--conditions=@actlog/source', '--disable-warning=ExperimentalWarning');
await import('../../../cli/src/bin.ts');
