import { Service } from '@actlog/adapter-suite';
import { createCodeInterpreterMiddleware } from '@langchain/quickjs';
import { createDeepAgent } from 'deepagents';
import { createAgent, tool } from 'langchain';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { inThread, modelOf, question, sharedModelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

// The interpreter loads the LangGraph beside it, which is not the oldest.
beforeEach(({ task, skip }) => skip(task.file.projectName === 'langchain-lowest'));

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('delete_user', 'Never delete users.');
});
afterAll(() => service.close());

/** Creates a tool that notes the users that it deletes. */
function deletingTool() {
  const deleted: string[] = [];
  const deleteUser = tool(
    ({ id }) => {
      deleted.push(id);
      return `deleted ${id}`;
    },
    { name: 'delete_user', description: 'Deletes a user.', schema: z.object({ id: z.string() }) },
  );
  return { deleted, deleteUser };
}

const evaluating = (code: string) => [[{ name: 'eval', args: { code } }]];
const deletion = evaluating(
  'try { await tools.deleteUser({ id: "ada" }) } catch (error) { console.log(error.message) }',
);

test.each([
  ['middleware', {}],
  ['middleware that covers no interpreter', { include: ['delete_user'] }],
  ['middleware that excludes the interpreter', { exclude: ['eval'] }],
])('guards and records what the code of a model calls: %s', async (name, filter) => {
  const { deleted, deleteUser } = deletingTool();
  const agent = createAgent({
    name: 'coder',
    model: modelOf(deletion),
    tools: [deleteUser],
    middleware: [
      actlog({ recorder: service.guarded(), ...filter }),
      createCodeInterpreterMiddleware({ ptc: [deleteUser] }) as never,
    ],
  });
  const result = await agent.invoke(question as never, inThread(name));
  expect(deleted).toEqual([]);
  expect(JSON.stringify(toolResultsOf(result as never))).toContain('Never delete users.');
  const interpreter = 'include' in filter || 'exclude' in filter ? [] : ['coder eval 200'];
  expect(await service.callLines(name)).toEqual(['coder delete_user 403', ...interpreter]);
});

test('guards and records what the code of a model calls, for the process', async () => {
  onTestFinished(actlog.install({ recorder: service.guarded() }));
  const { deleted, deleteUser } = deletingTool();
  const { echo, ran } = tools();
  const code =
    'const said = await tools.echo({ text: "a" }); try { await tools.deleteUser({ id: "ada" }) } catch { said }';
  const agent = createAgent({
    name: 'coder',
    model: modelOf(evaluating(code)),
    tools: [],
    middleware: [createCodeInterpreterMiddleware({ ptc: [echo, deleteUser] }) as never],
  });
  await agent.invoke(question as never, inThread('process') as never);
  expect([deleted, ran]).toEqual([[], ['echo a']]);
  expect((await service.callLines('process')).sort()).toEqual([
    'coder delete_user 403',
    'coder echo 200',
    'coder eval 200',
  ]);
});

test('guards and records the subagents that code of a model starts', async () => {
  onTestFinished(actlog.install({ recorder: service.guarded() }));
  const { deleted, deleteUser } = deletingTool();
  const code = 'await task({ description: "Delete ada.", subagentType: "cleaner" })';
  const agent = createDeepAgent({
    name: 'deep',
    model: sharedModelOf(evaluating(code)),
    subagents: [
      {
        name: 'cleaner',
        description: 'Deletes users.',
        systemPrompt: 'Delete.',
        model: sharedModelOf([[{ name: 'delete_user', args: { id: 'ada' } }]]),
        tools: [deleteUser],
      },
    ] as never[],
    middleware: [createCodeInterpreterMiddleware({}) as never],
  });
  await agent.invoke(question as never, inThread('task'));
  expect(deleted).toEqual([]);
  expect((await service.callLines('task')).sort()).toEqual([
    'cleaner delete_user 403',
    'deep eval 200',
    'deep task 200',
  ]);
});

test('denies a subagent that code of a model starts', async () => {
  onTestFinished(actlog.install({ recorder: service.guarded() }));
  const { id } = await service.client.policies.create({
    name: 'no subagents',
    effect: 'deny',
    match: { tools: ['task'] },
  });
  const started: string[] = [];
  const note = tool(() => String(started.push('ran')), {
    name: 'note',
    description: 'Notes.',
    schema: z.object({}),
  });
  const agent = createDeepAgent({
    name: 'deep',
    model: sharedModelOf(evaluating('await task({ description: "Note.", subagentType: "clerk" })')),
    subagents: [
      {
        name: 'clerk',
        description: 'Notes.',
        systemPrompt: 'Note.',
        model: sharedModelOf([[{ name: 'note', args: {} }]]),
        tools: [note],
      },
    ] as never[],
    middleware: [createCodeInterpreterMiddleware({}) as never],
  });
  await agent.invoke(question as never, inThread('denied-task'));
  await service.client.policies.archive(id);
  expect(started).toEqual([]);
  expect(await service.callLines('denied-task')).toContain('deep task 403');
});

test('counts a tool behind a wrapper of the same name once', async () => {
  const { echo, ran } = tools();
  const wrapper = tool((input) => echo.invoke(input as { text: string }), {
    name: 'echo',
    description: 'Says it again.',
    schema: z.object({ text: z.string() }),
  });
  const model = modelOf([[{ name: 'echo', args: { text: 'a' } }]]);
  const middleware = [actlog({ recorder: service.recorder() })];
  await createAgent({ name: 'outer', model, tools: [wrapper], middleware }).invoke(
    question,
    inThread('wrapper'),
  );
  expect(ran).toEqual(['echo a']);
  expect(await service.callLines('wrapper')).toEqual(['outer echo 200']);
});
