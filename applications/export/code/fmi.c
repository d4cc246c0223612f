/* FMI 2.0 for model exchange around @NAME@_forward_dynamics; written by limbsweep. */
#include "@NAME@.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined _WIN32
#define FMI2_EXPORT __declspec(dllexport)
#else
#define FMI2_EXPORT __attribute__((visibility("default")))
#endif

enum { FREE = @FREE@, DRIVEN = @DRIVEN@, STATES = 2 * FREE, FORCE = 4 * FREE, ALL = FORCE + DRIVEN };

typedef void *fmi2Component;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef struct {
    void (*logger)(void *, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, fmi2Status);
    void *componentEnvironment;
} fmi2CallbackFunctions;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

/* value: positions, rates, their derivatives, forces; done: whether the derivatives belong to the others */
typedef struct {
    double value[ALL];
    int done;
    const fmi2CallbackFunctions *call;
    char name[256];
} Unit;

static fmi2Status computed(Unit *unit)
{
    if (unit->done) return fmi2OK;
    int status = @NAME@_forward_dynamics(unit->value, unit->value + FREE, unit->value + FORCE, unit->value + 3 * FREE);
    memcpy(unit->value + STATES, unit->value + FREE, FREE * sizeof(double));
    if (status != 0) {
        if (unit->call && unit->call->logger)
            unit->call->logger(unit->call->componentEnvironment, unit->name, fmi2Discard, "logStatusDiscard",
                               "no acceleration here: status %d of limbsweep", status);
        return fmi2Discard;
    }
    unit->done = 1;
    return fmi2OK;
}

FMI2_EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
FMI2_EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

FMI2_EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[])
{
    (void)c; (void)on; (void)n; (void)names;
    return fmi2OK;
}

FMI2_EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                          const fmi2CallbackFunctions *call, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)resources; (void)visible; (void)logging;
    if (type != fmi2ModelExchange || guid == NULL || strcmp(guid, "@GUID@") != 0) return NULL;
    Unit *unit = calloc(1, sizeof(Unit));
    if (unit == NULL) return NULL;
    unit->call = call;
    if (name != NULL) strncpy(unit->name, name, sizeof(unit->name) - 1);
    return unit;
}

FMI2_EXPORT void fmi2FreeInstance(fmi2Component c) { free(c); }

FMI2_EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                           fmi2Real start, fmi2Boolean has_stop, fmi2Real stop)
{
    (void)c; (void)has_tolerance; (void)tolerance; (void)start; (void)has_stop; (void)stop;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) { (void)c; return fmi2OK; }
FMI2_EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) { (void)c; return fmi2OK; }
FMI2_EXPORT fmi2Status fmi2Terminate(fmi2Component c) { (void)c; return fmi2OK; }

FMI2_EXPORT fmi2Status fmi2Reset(fmi2Component c)
{
    Unit *unit = c;
    memset(unit->value, 0, sizeof(unit->value));
    unit->done = 0;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    Unit *unit = c;
    fmi2Status status = fmi2OK;
    for (size_t k = 0; k < n; ++k) {
        if (vr[k] >= ALL) return fmi2Error;
        if (vr[k] >= STATES && vr[k] < FORCE && computed(unit) != fmi2OK) status = fmi2Discard;
        value[k] = unit->value[vr[k]];
    }
    return status;
}

FMI2_EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    Unit *unit = c;
    for (size_t k = 0; k < n; ++k) {
        if (vr[k] >= ALL || (vr[k] >= STATES && vr[k] < FORCE)) return fmi2Error;
        unit->value[vr[k]] = value[k];
        unit->done = 0;
    }
    return fmi2OK;
}

/* there are no others than real numbers */
#define NONE(NAME, TYPE)                                                                                              \
    FMI2_EXPORT fmi2Status NAME(fmi2Component c, const fmi2ValueReference vr[], size_t n, TYPE value[])                \
    {                                                                                                                 \
        (void)c; (void)vr; (void)value;                                                                               \
        return n ? fmi2Error : fmi2OK;                                                                                \
    }
NONE(fmi2GetInteger, fmi2Integer)
NONE(fmi2GetBoolean, fmi2Boolean)
NONE(fmi2GetString, fmi2String)
NONE(fmi2SetInteger, const fmi2Integer)
NONE(fmi2SetBoolean, const fmi2Boolean)
NONE(fmi2SetString, const fmi2String)

/* what the description says that there is not */
FMI2_EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    (void)c; (void)state;
    return fmi2Error;
}
FMI2_EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    (void)c; (void)state;
    return fmi2Error;
}
FMI2_EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    (void)c; (void)state;
    return fmi2Error;
}
FMI2_EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c; (void)state; (void)size;
    return fmi2Error;
}
FMI2_EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    (void)c; (void)state; (void)bytes; (void)size;
    return fmi2Error;
}
FMI2_EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                               fmi2FMUstate *state)
{
    (void)c; (void)bytes; (void)size; (void)state;
    return fmi2Error;
}
FMI2_EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[],
                                                    size_t unknowns,
                                                    const fmi2ValueReference known[], size_t knowns,
                                                    const fmi2Real seed[], fmi2Real sensitivity[])
{
    (void)c; (void)unknown; (void)unknowns; (void)known; (void)knowns; (void)seed; (void)sensitivity;
    return fmi2Error;
}

FMI2_EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c) { (void)c; return fmi2OK; }
FMI2_EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) { (void)c; return fmi2OK; }

FMI2_EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    (void)c;
    memset(info, 0, sizeof(*info));
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean keep, fmi2Boolean *event,
                                                   fmi2Boolean *end)
{
    (void)c; (void)keep;
    *event = 0;
    *end = 0;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) { (void)c; (void)time; return fmi2OK; }

FMI2_EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    Unit *unit = c;
    if (n != STATES) return fmi2Error;
    memcpy(unit->value, x, sizeof(double) * STATES);
    unit->done = 0;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    if (n != STATES) return fmi2Error;
    memcpy(x, ((Unit *)c)->value, sizeof(double) * STATES);
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t n)
{
    if (n != STATES) return fmi2Error;
    fmi2Status status = computed(c);
    memcpy(derivatives, ((Unit *)c)->value + STATES, sizeof(double) * STATES);
    return status;
}

FMI2_EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t n)
{
    (void)c; (void)indicators;
    return n ? fmi2Error : fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominal[], size_t n)
{
    (void)c;
    if (n != STATES) return fmi2Error;
    for (size_t k = 0; k < n; ++k) nominal[k] = 1.0;
    return fmi2OK;
}
