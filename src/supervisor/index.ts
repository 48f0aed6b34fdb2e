export {
  type CallTrace,
  CHANNELS,
  type DelegationTrace,
  type Left,
  type ModelName,
  type SupervisorEvent,
  type ToolTrace,
  type TurnResult,
  type TurnTrace,
} from './events.ts'
export type {
  Assignment,
  HandleOptions,
  Message,
  ModelSettings,
  ModelWorker,
  OwnWorker,
  ProviderOptions,
  SupervisorOptions,
  Worker,
} from './options.ts'
export { createSupervisor, type Supervisor, type SupervisorTurn } from './supervisor.ts'
export { aiTools } from './toolbox.ts'
