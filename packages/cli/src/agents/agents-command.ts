import { Command } from 'commander';
import { addAgentsCreate, addAgentsUpdate } from './change-agents.ts';
import { addAgentsList, addAgentsSessions, addAgentsShow } from './read-agents.ts';

/** Creates the command `agents`. */
export function agentsCommand(): Command {
  const agents = new Command('agents').description('Registers, lists, changes and revokes agents.');
  addAgentsList(agents);
  addAgentsShow(agents);
  addAgentsSessions(agents);
  addAgentsCreate(agents);
  addAgentsUpdate(agents);
  return agents;
}
