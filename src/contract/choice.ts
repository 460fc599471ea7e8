import type { ValidatorError } from './generated/validators.js'

/**
 * A choice (`anyOf`, `oneOf`) that fails is reported together with the errors of each of its branches. Leaves only the choice,
 * which takes the errors of its branches as the parameter `alternatives`; and of a wrong key only the rule it breaks.
 */
export function gatherChoices(errors: readonly ValidatorError[]): ValidatorError[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  return errors
    .filter(({ keyword }) => keyword !== 'propertyNames' && keyword !== 'if')
    .filter((error) => !choices.some((choice) => isInBranch(error, choice)))
    .map((error) => (choices.includes(error) ? withAlternatives(error, errors) : error))
}

function isInBranch(error: ValidatorError, choice: ValidatorError): boolean {
  return error.schemaPath.startsWith(`${choice.schemaPath}/`) && error.instancePath.startsWith(choice.instancePath)
}

function withAlternatives(choice: ValidatorError, errors: readonly ValidatorError[]): ValidatorError {
  const branches = new Map<string, ValidatorError[]>()
  for (const error of errors) {
    if (!isInBranch(error, choice)) continue
    const branch = error.schemaPath
      .slice(choice.schemaPath.length + 1)
      .split('/', 1)
      .join()
    branches.set(branch, [...(branches.get(branch) ?? []), error])
  }
  return { ...choice, params: { ...choice.params, alternatives: [...branches.values()] } }
}
