/* anabranch.h: your driver or simulator in C or C++, explored by Anabranch. One file, nothing else needed.
 *
 * In one source file of your program:
 *
 *     #define ANABRANCH_IMPLEMENTATION
 *     #include "anabranch.h"              (before other headers)
 *
 *     typedef struct { double integral; } follow;
 *
 *     static int step(void *self, const ab_seen *seen, ab_decision *out) {
 *         follow *f = self;
 *         f->integral += seen->path.lateral;
 *         out->steer = -0.5 * seen->path.lateral - 0.01 * f->integral;
 *         return 0;                       (or: return ab_fail("lost the path at %g s", seen->time);)
 *     }
 *     int main(void) {
 *         follow start = {0};
 *         ab_driver driver = {0};
 *         driver.name = "follow";
 *         driver.step = step;
 *         driver.state = &start;
 *         driver.state_bytes = sizeof start;
 *         return ab_serve(&driver);
 *     }
 *
 * Many branches of one run live side by side, are saved, and continue from where they were saved. How that is done is
 * yours to choose (ab_snapshot); the two usual ways:
 *
 *   - Everything your code remembers is one plain struct: name it in `state`. Each branch has a copy, and `self` is it.
 *     The struct has no pointers, and starts zeroed, so that equal memories have equal bytes.
 *   - Your code cannot be copied (globals, libraries, files): name no state. Each branch is then a process of its own, and
 *     saving one means letting it wait (fork). Whatever it remembers, wherever, is kept.
 *
 * The header speaks version 1 of the bridge protocol over ZeroMQ's wire protocol (ZMTP 3, NULL, REP) by itself. Standard
 * output and error stay yours. C99 or C++11, POSIX. Licence: MIT OR Apache-2.0.
 */
#ifndef ANABRANCH_H
#define ANABRANCH_H

#if defined(ANABRANCH_IMPLEMENTATION) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most variables that a card may name. */
#define AB_KEY_MAX 64
/* Most requirements that a world may have. */
#define AB_REQUIREMENTS_MAX 64

/* ---- What a run begins with. Pointers are valid during the call only. Units are SI and radians. ---- */

/* Rear axle; heading counter-clockwise from east; speed negative backwards. */
typedef struct ab_start {
    double x, y, heading, speed;
} ab_start;

typedef struct ab_goal {
    double x, y, heading, tolerance_m;
} ab_goal;

typedef struct ab_car {
    double wheelbase_m, length_m, width_m, rear_overhang_m, steering_max_rad, steering_rate_max_radps;
} ab_car;

/* A part of the path driven in one direction: +1 forwards, -1 backwards. */
typedef struct ab_section {
    double start_m, end_m;
    int32_t direction;
} ab_section;

typedef struct ab_sample {
    double x, y, heading, curvature, station;
} ab_sample;

typedef struct ab_wall {
    double x1, y1, x2, y2;
} ab_wall;

typedef struct ab_path {
    double length_m;
    const ab_section *sections;
    size_t section_count;
    /* If `wants` names "samples". */
    const ab_sample *samples;
    size_t sample_count;
} ab_path;

/* Seconds between two samples of each channel; a step between two of them sees the older one again. */
typedef struct ab_periods {
    double pose_s, speed_s, objects_s, occupancy_s;
} ab_periods;

/* Words of the route, of signs and of lights; a word of a later host that this header does not know is AB_UNKNOWN. */
enum { AB_UNKNOWN = -1 };
enum { AB_THEN_STRAIGHT_ON, AB_THEN_LEFT, AB_THEN_RIGHT, AB_THEN_ARRIVE };
enum { AB_SIGN_NONE, AB_SIGN_STOP, AB_SIGN_YIELD, AB_SIGN_PRIORITY };
enum { AB_LIGHT_NONE, AB_LIGHT_RED, AB_LIGHT_RED_AMBER, AB_LIGHT_AMBER, AB_LIGHT_GREEN, AB_LIGHT_DARK };

/* A stretch of the route on one lane ("main.1"): stations at which it is entered and left at the latest, and how it is left. */
typedef struct ab_leg {
    const char *lane;
    double from_m, to_m;
    int32_t then;
} ab_leg;

typedef struct ab_begin {
    /* The only source of chance that the code may use. */
    uint64_t seed;
    const char *scenario;
    /* Start parameters of a world. */
    const double *params;
    size_t param_count;
    /* Seconds between two steps, and of the whole run. */
    double cycle_s, until_s;
    ab_start start;
    ab_goal goal;
    ab_car car;
    ab_path path;
    ab_periods periods;
    /* If `wants` names "walls". */
    const ab_wall *walls;
    size_t wall_count;
    /* Lanes to follow, where there are roads. */
    const ab_leg *route;
    size_t leg_count;
} ab_begin;

/* ---- What a driver is told in each step. ---- */

/* Covariance of x, y, heading, row by row. */
typedef struct ab_pose_seen {
    double x, y, heading, covariance[9];
} ab_pose_seen;

/* The car relative to its path. */
typedef struct ab_path_seen {
    /* Driven metres; metres left of the path; heading relative to the path's; curvature to drive here. */
    double station, lateral, heading, curvature;
    /* Metres to the end of the section or to where an obstacle asks to stand; speed the steering can follow. */
    double remaining, speed_max;
    int32_t direction;
    uint32_t section, sections_left;
    /* Metres to the end of the section, whatever stands before it: who stands there has arrived. */
    double to_end;
} ab_path_seen;

typedef struct ab_goal_seen {
    double ahead, left, heading;
} ab_goal_seen;

typedef struct ab_object {
    uint32_t id;
    double x, y, heading, speed, length, width;
    /* Velocity eastwards and northwards. */
    double vx, vy;
} ab_object;

/* A lane beside that of the car: metres from middle to middle, and whether the line between may be crossed. */
typedef struct ab_beside {
    const char *lane;
    double apart;
    int32_t may_change;
} ab_beside;

/* One place on the middle of the lanes ahead. */
typedef struct ab_ahead {
    double x, y, heading, curvature, width, speed_limit;
} ab_ahead;

/* A line at which one may have to stop: metres from the rear axle, AB_SIGN_..., AB_LIGHT_... */
typedef struct ab_line {
    double ahead;
    int32_t sign, light;
} ab_line;

/* The car on its road, from where it believes to be. */
typedef struct ab_road {
    const char *lane;
    /* Along the lane; left of its middle; heading less that of the lane; of the lane; here. */
    double station, lateral, heading, width, speed_limit;
    /* NULL where there is no lane. */
    const ab_beside *left, *right;
    /* What the route does next (AB_THEN_...), the metres until that must have happened, and those of the whole route. */
    int32_t then;
    double then_in, route_left;
    /* Along the route, `step` metres apart; the first is beside the car. */
    const ab_ahead *ahead;
    size_t ahead_count;
    double step;
    /* The nearest first. */
    const ab_line *lines;
    size_t line_count;
} ab_road;

/* Plain sensors: friction of the road, place, heading, speed, front wheels, metres to the right edge of the road, and from the
   corners of the car to the markers of its lane. */
typedef struct ab_plain {
    double weather, x, y, compass, speed, steer, to_right;
    double front_left, front_right, rear_left, rear_right;
} ab_plain;

/* What is free near the car: one byte for each cell, row by row, 0 free, 255 occupied. */
typedef struct ab_occupancy {
    double cell_m;
    uint32_t columns, rows;
    const unsigned char *cells;
    size_t cell_count;
} ab_occupancy;

typedef struct ab_seen {
    double time;
    uint64_t tick;
    ab_pose_seen pose;
    double speed, steer;
    int32_t gear;
    ab_path_seen path;
    ab_goal_seen goal;
    const ab_object *objects;
    size_t object_count;
    /* If `wants` names "occupancy"; else it has no cells. */
    ab_occupancy occupancy;
    /* NULL where there are no roads. */
    const ab_road *road;
    /* NULL where the car has no plain sensors. */
    const ab_plain *plain;
} ab_seen;

/* ---- What a driver decides. All zero when `step` is called. ---- */

typedef struct ab_trajectory_point {
    double time_s, x_m, y_m, heading_rad, speed_mps;
} ab_trajectory_point;

typedef struct ab_decision {
    /* Angle of the front wheels, left positive; acceleration along the gear, negative brakes. */
    double steer, accel;
    /* +1 forwards, -1 backwards, 0: the direction of the path. */
    int gear;
    /* "Manoeuvre completed." */
    int completed;
    /* A trajectory to be tracked instead; yours, read right after `step` returned. */
    const ab_trajectory_point *trajectory;
    size_t trajectory_count;
    /* Values of the card's `key`, in its order. */
    double key[AB_KEY_MAX];
} ab_decision;

/* ---- Worlds: simulators with everything inside. ---- */

/* What a segment is run with: one mode for each site, 0 is "no error"; whether frames are wanted. */
typedef struct ab_run {
    const uint16_t *modes;
    size_t mode_count;
    int record;
} ab_run;

/* What came of a segment. All zero (and no margin) when `run` is called. */
typedef struct ab_segment {
    /* Values of the card's `merge`, in its order. */
    double values[AB_KEY_MAX];
    /* Nonzero where a requirement is violated, in the order of `requirements`: as a must, and as a should. */
    unsigned char violated[AB_REQUIREMENTS_MAX], notes[AB_REQUIREMENTS_MAX];
    /* Whether the run has ended well. */
    int done;
    /* How bad the state looks; larger is worse. */
    double danger;
    /* Smallest margin on the way; infinite where there is none. */
    double margin;
    /* Frames are added by ab_frame. */
    void *frames;
} ab_segment;

/* Adds the values of all `signals` at one tick; does nothing where nobody records. */
void ab_frame(ab_segment *segment, const double *values);

/* ---- The card. ---- */

/* A variable that counts for merging, or a signal. `cell` 0: exactly. `unit` may be NULL. */
typedef struct ab_variable {
    const char *name;
    const char *unit;
    double cell;
} ab_variable;

/* A place where errors enter a world; the first mode is "none". */
typedef struct ab_site {
    const char *name;
    const char *const *modes;
    size_t mode_count;
} ab_site;

/* How branches and saved states are kept. The environment variable ANABRANCH_SNAPSHOT has the last word: memory, copy,
 * own, fork or replay. */
typedef enum ab_snapshot {
    /* copy if there is one, else own, else memory, else (unless memoryless) fork. */
    AB_AUTO = 0,
    /* Copies of `state`, byte by byte. */
    AB_MEMORY,
    /* The functions `copy` and `destroy`. */
    AB_COPY,
    /* The functions `save` and `load`; `state` is the one object that all branches take turns in. */
    AB_OWN,
    /* A process for each branch and for each saved state. */
    AB_FORK,
    /* Nothing is saved: Anabranch runs the way there again. */
    AB_REPLAY
} ab_snapshot;

/* How the memory of the code is kept; used by drivers and worlds alike. */
#define AB_MEMORY_FIELDS \
    /* Handed to all functions as `self`, or copied for each branch. */ \
    void *state; \
    /* Size of `state`, if it is plain data. */ \
    size_t state_bytes; \
    /* For objects with pointers: a new object like this one, and its end. */ \
    void *(*copy)(const void *self); \
    void (*destroy)(void *self); \
    /* For code with bytes of its own: writes at most `room` bytes and returns how many there are (asked again with more \
     * room if that was too little), negative if it failed; `load` returns nonzero if it failed. */ \
    long (*save)(void *self, void *into, size_t room); \
    int (*load)(void *self, const void *bytes, size_t count); \
    ab_snapshot snapshot; \
    /* The answer depends on what is seen, and on nothing else. */ \
    int memoryless; \
    /* Where to listen if nobody started us: "tcp://127.0.0.1:5555" unless said otherwise. Loopback or "ipc://" only. */ \
    const char *endpoint;

/* A driver. Zero it, then fill in what you need; `name` and `step` are required. */
typedef struct ab_driver {
    const char *name;
    const char *version;
    /* Begins a run; NULL if a fresh copy of `state` is all it takes. Nonzero: failed. */
    int (*reset)(void *self, const ab_begin *begin);
    /* Decides once. Nonzero: failed. */
    int (*step)(void *self, const ab_seen *seen, ab_decision *out);
    /* What of the memory counts for merging. */
    const ab_variable *key;
    size_t key_count;
    /* Seconds between two steps; 0: as the scenario says. */
    double cycle_s;
    /* Any of "walls", "samples", "occupancy", separated by blanks; NULL for none. */
    const char *wants;
    AB_MEMORY_FIELDS
} ab_driver;

/* A world. `name`, `run` and at least one variable in `merge` are required. */
typedef struct ab_world {
    const char *name;
    const char *version;
    int (*reset)(void *self, const ab_begin *begin);
    /* Runs one segment. Nonzero: failed. */
    int (*run)(void *self, const ab_run *run, ab_segment *out);
    const ab_site *sites;
    size_t site_count;
    /* Most sites in error at once; 0: all. */
    unsigned at_once;
    const ab_variable *merge;
    size_t merge_count;
    const char *const *requirements;
    size_t requirement_count;
    const ab_variable *signals;
    size_t signal_count;
    /* Whether equal states at different times may differ in their future. */
    int time_matters;
    /* Seconds of a segment and of a tick (0: 1 s), segments of a run (0: 20). */
    double segment_s, tick_s;
    unsigned segments_max;
    AB_MEMORY_FIELDS
    /* How many of `requirements`, the last ones, are only should. 0: all are must. */
    size_t should_count;
} ab_world;

/* Says what went wrong, and returns -1 to be returned by `reset`, `step`, `run` or `load`. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
int ab_fail(const char *format, ...);

/* Serves until Anabranch says goodbye or is gone. Returns the exit status of the program; what went wrong was told on
 * standard error. */
int ab_serve(const ab_driver *driver);
int ab_serve_world(const ab_world *world);

#ifdef __cplusplus
} /* extern "C" */

#include <exception>
#include <type_traits>

/* A class with `void step(const ab_seen &, ab_decision &)` and `void reset(const ab_begin &)` is a driver: its copy constructor is the
 * snapshot. Exceptions are failures. */
namespace anabranch {

template <class Driver>
struct hooks {
    template <class Call>
    static int guarded(Call call) {
        try {
            call();
            return 0;
        } catch (const std::exception &error) {
            return ab_fail("%s", error.what());
        } catch (...) {
            return ab_fail("an exception without text");
        }
    }
    static int reset(void *self, const ab_begin *begin) {
        return guarded([&] { static_cast<Driver *>(self)->reset(*begin); });
    }
    static int step(void *self, const ab_seen *seen, ab_decision *out) {
        return guarded([&] { static_cast<Driver *>(self)->step(*seen, *out); });
    }
    static void *copy(const void *self) { return new Driver(*static_cast<const Driver *>(self)); }
    static void destroy(void *self) { delete static_cast<Driver *>(self); }
};

/* Serves copies of `start`; `card` has the name and whatever else shall be told. */
template <class Driver>
int serve(Driver &start, ab_driver card) {
    card.reset = hooks<Driver>::reset;
    card.step = hooks<Driver>::step;
    card.state = &start;
    if (std::is_trivially_copyable<Driver>::value) {
        card.state_bytes = sizeof(Driver);
    } else {
        card.copy = hooks<Driver>::copy;
        card.destroy = hooks<Driver>::destroy;
    }
    return ab_serve(&card);
}

} /* namespace anabranch */
#endif /* __cplusplus */

#endif /* ANABRANCH_H */

/* ==================================================================================================================== */
#if defined(ANABRANCH_IMPLEMENTATION) && !defined(ANABRANCH_IMPLEMENTED)
#define ANABRANCH_IMPLEMENTED

#if !defined(__unix__) && !defined(__APPLE__)
#error "anabranch.h needs a POSIX system"
#endif

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif
#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

/* Internal names begin with abx_. */

#define ABX_PROTOCOL 1
/* More is noise on the line, not a message. */
#define ABX_MESSAGE_BYTES_MAX ((size_t)64 << 20)
/* Commands of ZMTP are short. */
#define ABX_COMMAND_BYTES_MAX ((size_t)64 << 10)
/* Frames before the empty one; a REQ socket sends none. */
#define ABX_ENVELOPE_BYTES_MAX 1024
#define ABX_OBJECTS_MAX 65536
#define ABX_ROWS_MAX ((size_t)1 << 20)
#define ABX_MODES_MAX 4096
#define ABX_BRANCHES_MAX ((size_t)1 << 20)
#define ABX_TEXT_MAX 1024
/* How long a peer may take to say who it is. */
#define ABX_HANDSHAKE_S 10
/* How long we wait for the one who started us to listen. */
#define ABX_CONNECT_TRIES 100
#define ABX_CONNECT_PAUSE_MS 50
/* How often a broker that waits looks whether the process still lives. */
#define ABX_LOOK_MS 50
#define ABX_DEFAULT_ENDPOINT "tcp://127.0.0.1:5555"

/* ---- Text of the failure, memory ---- */

static char abx_text[ABX_TEXT_MAX];

int ab_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(abx_text, sizeof abx_text, format, arguments);
    va_end(arguments);
    return -1;
}

/* Without memory nothing can be answered; the one who started us sees a program that ended. */
static void *abx_need(void *memory) {
    if (memory == NULL) {
        fputs("anabranch: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static double abx_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Bytes that grow ---- */

typedef struct abx_bytes {
    unsigned char *data;
    size_t size, room;
} abx_bytes;

static unsigned char *abx_extend(abx_bytes *bytes, size_t more) {
    if (bytes->room - bytes->size < more) {
        size_t room = bytes->room < 256 ? 256 : bytes->room;
        while (room - bytes->size < more) room *= 2;
        bytes->data = (unsigned char *)abx_need(realloc(bytes->data, room));
        bytes->room = room;
    }
    bytes->size += more;
    return bytes->data + bytes->size - more;
}

static void abx_put(abx_bytes *bytes, const void *data, size_t size) {
    if (size > 0) memcpy(abx_extend(bytes, size), data, size);
}

static void abx_free(abx_bytes *bytes) {
    free(bytes->data);
    memset(bytes, 0, sizeof *bytes);
}

/* ---- Memory that lives as long as one operation ---- */

typedef struct abx_chunk {
    struct abx_chunk *next;
} abx_chunk;

/* Alignment of everything that is allotted; the header of a chunk takes as much. */
#define ABX_ALIGN 16

static void *abx_allot(abx_chunk **arena, size_t size) {
    abx_chunk *chunk = (abx_chunk *)abx_need(malloc(ABX_ALIGN + (size > 0 ? size : 1)));
    chunk->next = *arena;
    *arena = chunk;
    return (unsigned char *)chunk + ABX_ALIGN;
}

static void abx_release(abx_chunk **arena) {
    while (*arena != NULL) {
        abx_chunk *next = (*arena)->next;
        free(*arena);
        *arena = next;
    }
}

/* ---- Writing MessagePack ---- */

static void abx_big_endian(unsigned char *to, uint64_t value, size_t size) {
    while (size > 0) {
        to[--size] = (unsigned char)(value & 0xff);
        value >>= 8;
    }
}

static void abx_tagged(abx_bytes *out, unsigned char tag, uint64_t value, size_t size) {
    unsigned char *to = abx_extend(out, 1 + size);
    to[0] = tag;
    abx_big_endian(to + 1, value, size);
}

static void abx_put_byte(abx_bytes *out, unsigned char byte) { *abx_extend(out, 1) = byte; }
static void abx_put_nil(abx_bytes *out) { abx_put_byte(out, 0xc0); }
static void abx_put_bool(abx_bytes *out, int value) { abx_put_byte(out, value ? 0xc3 : 0xc2); }

static void abx_put_real(abx_bytes *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    abx_tagged(out, 0xcb, bits, 8);
}

static void abx_put_uint(abx_bytes *out, uint64_t value) {
    if (value < 0x80) {
        abx_put_byte(out, (unsigned char)value);
    } else if (value <= 0xffff) {
        abx_tagged(out, 0xcd, value, 2);
    } else if (value <= 0xffffffffu) {
        abx_tagged(out, 0xce, value, 4);
    } else {
        abx_tagged(out, 0xcf, value, 8);
    }
}

static void abx_put_int(abx_bytes *out, int64_t value) {
    if (value >= 0) {
        abx_put_uint(out, (uint64_t)value);
    } else {
        abx_tagged(out, 0xd3, (uint64_t)value, 8);
    }
}

static void abx_put_map(abx_bytes *out, size_t count) {
    if (count < 16) {
        abx_put_byte(out, (unsigned char)(0x80 | count));
    } else {
        abx_tagged(out, 0xdf, count, 4);
    }
}

static void abx_put_array(abx_bytes *out, size_t count) {
    if (count < 16) {
        abx_put_byte(out, (unsigned char)(0x90 | count));
    } else {
        abx_tagged(out, 0xdd, count, 4);
    }
}

/* Bytes that continue a character of UTF-8, or 0 if this byte begins none. */
static size_t abx_utf8_rest(const unsigned char *text, size_t size) {
    size_t rest, at;
    if (text[0] >= 0xc2 && text[0] < 0xe0) {
        rest = 1;
    } else if (text[0] >= 0xe0 && text[0] < 0xf0) {
        rest = 2;
    } else if (text[0] >= 0xf0 && text[0] < 0xf5) {
        rest = 3;
    } else {
        return 0;
    }
    if (size <= rest) return 0;
    for (at = 1; at <= rest; at++) {
        if ((text[at] & 0xc0) != 0x80) return 0;
    }
    if (text[0] == 0xe0 && text[1] < 0xa0) return 0;
    if (text[0] == 0xed && text[1] > 0x9f) return 0;
    if (text[0] == 0xf0 && text[1] < 0x90) return 0;
    if (text[0] == 0xf4 && text[1] > 0x8f) return 0;
    return rest;
}

/* Texts must be UTF-8; what is none becomes a question mark. */
static void abx_put_text(abx_bytes *out, const char *text) {
    size_t size = text == NULL ? 0 : strlen(text), at = 0;
    unsigned char *to;
    if (size < 32) {
        abx_put_byte(out, (unsigned char)(0xa0 | size));
    } else {
        abx_tagged(out, 0xdb, size, 4);
    }
    if (size == 0) return;
    to = abx_extend(out, size);
    memcpy(to, text, size);
    while (at < size) {
        size_t rest = to[at] < 0x80 ? 0 : abx_utf8_rest(to + at, size - at);
        if (to[at] >= 0x80 && rest == 0) to[at] = '?';
        at += 1 + rest;
    }
}

static void abx_put_blob(abx_bytes *out, const void *data, size_t size) {
    abx_tagged(out, 0xc6, size, 4);
    abx_put(out, data, size);
}

static void abx_put_reals(abx_bytes *out, const double *values, size_t count) {
    size_t at;
    abx_put_array(out, count);
    for (at = 0; at < count; at++) abx_put_real(out, values[at]);
}

static void abx_put_failed(abx_bytes *out, const char *text) {
    abx_put_map(out, 1);
    abx_put_text(out, "failed");
    abx_put_map(out, 1);
    abx_put_text(out, "text");
    abx_put_text(out, text);
}

static void abx_put_done(abx_bytes *out) {
    abx_put_map(out, 1);
    abx_put_text(out, "done");
    abx_put_map(out, 0);
}

/* ---- Reading MessagePack ---- */

/* Reading stops at the first mistake; `problem` and the offset of `at` then say what and where. */
typedef struct abx_reader {
    const unsigned char *begin, *at, *end;
    const char *problem;
    const char *field;
} abx_reader;

enum { ABX_NIL, ABX_BOOL, ABX_UINT, ABX_INT, ABX_REAL, ABX_TEXT, ABX_BLOB, ABX_ARRAY, ABX_MAP, ABX_OTHER, ABX_BROKEN };

typedef struct abx_item {
    int kind;
    /* Value of a number, length of a text or blob, members of an array, pairs of a map. */
    uint64_t number;
    double real;
    const unsigned char *data;
} abx_item;

static int abx_broken(abx_reader *in, const char *problem) {
    if (in->problem == NULL) in->problem = problem;
    return 0;
}

static abx_reader abx_reader_of(const unsigned char *data, size_t size) {
    abx_reader in;
    memset(&in, 0, sizeof in);
    in.begin = in.at = data;
    in.end = data + size;
    return in;
}

static uint64_t abx_take_number(abx_reader *in, size_t size) {
    uint64_t value = 0;
    if ((size_t)(in->end - in->at) < size) {
        abx_broken(in, "ends inside a value");
        return 0;
    }
    while (size-- > 0) value = value << 8 | *in->at++;
    return value;
}

static double abx_real_of(uint64_t bits, int wide) {
    double value;
    if (wide) {
        memcpy(&value, &bits, sizeof value);
    } else {
        uint32_t narrow = (uint32_t)bits;
        float single;
        memcpy(&single, &narrow, sizeof single);
        value = (double)single;
    }
    return value;
}

/* Texts and blobs: their bytes follow. */
static void abx_take_data(abx_reader *in, abx_item *item, int kind, uint64_t size) {
    item->kind = kind;
    item->number = size;
    item->data = in->at;
    if (in->problem == NULL && (uint64_t)(in->end - in->at) < size) abx_broken(in, "ends inside a text");
    if (in->problem == NULL) in->at += size;
}

static void abx_take_count(abx_item *item, int kind, uint64_t count) {
    item->kind = kind;
    item->number = count;
}

static void abx_take_signed(abx_reader *in, abx_item *item, size_t size) {
    uint64_t value = abx_take_number(in, size);
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    item->number = (value ^ sign) - sign;
    item->kind = (value & sign) != 0 ? ABX_INT : ABX_UINT;
}

/* Tags from 0xc0 to 0xdf. */
static void abx_take_tagged(abx_reader *in, abx_item *item, unsigned char tag) {
    switch (tag) {
    case 0xc0: item->kind = ABX_NIL; break;
    case 0xc2:
    case 0xc3: abx_take_count(item, ABX_BOOL, tag & 1u); break;
    case 0xc4:
    case 0xc5:
    case 0xc6: abx_take_data(in, item, ABX_BLOB, abx_take_number(in, (size_t)1 << (tag - 0xc4))); break;
    case 0xc7:
    case 0xc8:
    case 0xc9: abx_take_data(in, item, ABX_OTHER, abx_take_number(in, (size_t)1 << (tag - 0xc7)) + 1); break;
    case 0xca: item->kind = ABX_REAL, item->real = abx_real_of(abx_take_number(in, 4), 0); break;
    case 0xcb: item->kind = ABX_REAL, item->real = abx_real_of(abx_take_number(in, 8), 1); break;
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: abx_take_count(item, ABX_UINT, abx_take_number(in, (size_t)1 << (tag - 0xcc))); break;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: abx_take_signed(in, item, (size_t)1 << (tag - 0xd0)); break;
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8: abx_take_data(in, item, ABX_OTHER, ((uint64_t)1 << (tag - 0xd4)) + 1); break;
    case 0xd9:
    case 0xda:
    case 0xdb: abx_take_data(in, item, ABX_TEXT, abx_take_number(in, (size_t)1 << (tag - 0xd9))); break;
    case 0xdc:
    case 0xdd: abx_take_count(item, ABX_ARRAY, abx_take_number(in, tag == 0xdc ? 2 : 4)); break;
    case 0xde:
    case 0xdf: abx_take_count(item, ABX_MAP, abx_take_number(in, tag == 0xde ? 2 : 4)); break;
    default: abx_broken(in, "a byte that begins no value"); break;
    }
}

static abx_item abx_take(abx_reader *in) {
    abx_item item;
    unsigned char tag;
    memset(&item, 0, sizeof item);
    item.kind = ABX_BROKEN;
    if (in->problem != NULL) return item;
    if (in->at == in->end) {
        abx_broken(in, "ends too early");
        return item;
    }
    tag = *in->at++;
    if (tag < 0x80) {
        abx_take_count(&item, ABX_UINT, tag);
    } else if (tag < 0x90) {
        abx_take_count(&item, ABX_MAP, tag & 0x0fu);
    } else if (tag < 0xa0) {
        abx_take_count(&item, ABX_ARRAY, tag & 0x0fu);
    } else if (tag < 0xc0) {
        abx_take_data(in, &item, ABX_TEXT, tag & 0x1fu);
    } else if (tag >= 0xe0) {
        item.kind = ABX_INT;
        item.number = (uint64_t)(int64_t)(signed char)tag;
    } else {
        abx_take_tagged(in, &item, tag);
    }
    /* Each member takes a byte at least: a count beyond that is a lie, and nobody shall loop over it. */
    if (item.kind == ABX_ARRAY && item.number > (uint64_t)(in->end - in->at)) abx_broken(in, "a list longer than the message");
    if (item.kind == ABX_MAP && 2 * item.number > (uint64_t)(in->end - in->at)) abx_broken(in, "a map longer than the message");
    if (in->problem != NULL) item.kind = ABX_BROKEN;
    return item;
}

/* Passes over one value with all that is in it, without recursion. */
static void abx_skip(abx_reader *in) {
    uint64_t waiting = 1;
    while (waiting > 0 && in->problem == NULL) {
        abx_item item = abx_take(in);
        waiting -= 1;
        if (item.kind == ABX_ARRAY) waiting += item.number;
        if (item.kind == ABX_MAP) waiting += 2 * item.number;
    }
}

static int abx_is(const abx_item *item, const char *text) {
    size_t size = strlen(text);
    return item->kind == ABX_TEXT && item->number == size && memcmp(item->data, text, size) == 0;
}

static double abx_number_of(abx_reader *in, const abx_item *item) {
    switch (item->kind) {
    case ABX_REAL: return item->real;
    case ABX_UINT: return (double)item->number;
    case ABX_INT: return (double)(int64_t)item->number;
    case ABX_NIL: return 0.0;
    default: abx_broken(in, "not a number"); return 0.0;
    }
}

static double abx_take_real(abx_reader *in) {
    abx_item item = abx_take(in);
    return abx_number_of(in, &item);
}

static uint64_t abx_take_uint(abx_reader *in, uint64_t max) {
    abx_item item = abx_take(in);
    if (item.kind != ABX_UINT || item.number > max) abx_broken(in, "not a whole number in range");
    return item.number;
}

static int32_t abx_take_int32(abx_reader *in) {
    abx_item item = abx_take(in);
    int64_t value;
    memcpy(&value, &item.number, sizeof value);
    if ((item.kind != ABX_UINT && item.kind != ABX_INT) || value > INT32_MAX || value < INT32_MIN) {
        abx_broken(in, "not a whole number in range");
        return 0;
    }
    return (int32_t)value;
}

static uint64_t abx_take_members(abx_reader *in, uint64_t max) {
    abx_item item = abx_take(in);
    if (item.kind == ABX_NIL) return 0;
    if (item.kind != ABX_ARRAY) abx_broken(in, "not a list");
    if (item.number > max) abx_broken(in, "a list that is too long");
    return in->problem == NULL ? item.number : 0;
}

/* ---- Maps into structs, by tables ---- */

enum { ABX_F_REAL, ABX_F_UINT64, ABX_F_UINT32, ABX_F_INT32, ABX_F_TEXT, ABX_F_BLOB, ABX_F_REALS9, ABX_F_MAP, ABX_F_MAPS, ABX_F_ROWS, ABX_F_REALS, ABX_F_BOOL, ABX_F_WORD, ABX_F_MAYBE };

typedef struct abx_table abx_table;
typedef struct abx_field {
    const char *name;
    int kind;
    /* Where the value goes, and for lists where their number goes. */
    size_t offset, count_offset;
    /* For maps and lists of maps; lists of rows have a size only. The fields of a list of words are the words, and the
     * number of each one is its offset. */
    const abx_table *table;
} abx_field;

struct abx_table {
    const abx_field *fields;
    size_t field_count;
    /* Bytes of the struct. */
    size_t size;
};

#define ABX_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ABX_AT(kind, type, name) { #name, kind, offsetof(type, name), 0, NULL }
#define ABX_IN(kind, type, name, table) { #name, kind, offsetof(type, name), 0, &table }
#define ABX_LIST(kind, type, name, member, count, table) { name, kind, offsetof(type, member), offsetof(type, count), &table }
#define ABX_TABLE(name, type) static const abx_table name##_table = { name##_fields, ABX_COUNT(name##_fields), sizeof(type) }

static const abx_field abx_start_fields[] = {
    ABX_AT(ABX_F_REAL, ab_start, x), ABX_AT(ABX_F_REAL, ab_start, y), ABX_AT(ABX_F_REAL, ab_start, heading), ABX_AT(ABX_F_REAL, ab_start, speed),
};
ABX_TABLE(abx_start, ab_start);
static const abx_field abx_goal_fields[] = {
    ABX_AT(ABX_F_REAL, ab_goal, x), ABX_AT(ABX_F_REAL, ab_goal, y), ABX_AT(ABX_F_REAL, ab_goal, heading), ABX_AT(ABX_F_REAL, ab_goal, tolerance_m),
};
ABX_TABLE(abx_goal, ab_goal);
static const abx_field abx_car_fields[] = {
    ABX_AT(ABX_F_REAL, ab_car, wheelbase_m),     ABX_AT(ABX_F_REAL, ab_car, length_m),         ABX_AT(ABX_F_REAL, ab_car, width_m),
    ABX_AT(ABX_F_REAL, ab_car, rear_overhang_m), ABX_AT(ABX_F_REAL, ab_car, steering_max_rad), ABX_AT(ABX_F_REAL, ab_car, steering_rate_max_radps),
};
ABX_TABLE(abx_car, ab_car);
static const abx_field abx_section_fields[] = {
    ABX_AT(ABX_F_REAL, ab_section, start_m), ABX_AT(ABX_F_REAL, ab_section, end_m), ABX_AT(ABX_F_INT32, ab_section, direction),
};
ABX_TABLE(abx_section, ab_section);
/* Rows are lists of reals in the order of the struct. */
static const abx_table abx_sample_row = { NULL, 0, sizeof(ab_sample) };
static const abx_table abx_wall_row = { NULL, 0, sizeof(ab_wall) };
static const abx_table abx_real_row = { NULL, 0, sizeof(double) };
static const abx_table abx_byte_row = { NULL, 0, 1 };
static const abx_field abx_path_fields[] = {
    ABX_AT(ABX_F_REAL, ab_path, length_m),
    ABX_LIST(ABX_F_MAPS, ab_path, "sections", sections, section_count, abx_section_table),
    ABX_LIST(ABX_F_ROWS, ab_path, "samples", samples, sample_count, abx_sample_row),
};
ABX_TABLE(abx_path, ab_path);
static const abx_field abx_periods_fields[] = {
    ABX_AT(ABX_F_REAL, ab_periods, pose_s), ABX_AT(ABX_F_REAL, ab_periods, speed_s), ABX_AT(ABX_F_REAL, ab_periods, objects_s),
    ABX_AT(ABX_F_REAL, ab_periods, occupancy_s),
};
ABX_TABLE(abx_periods, ab_periods);
#define ABX_WORD(text, number) { text, 0, number, 0, NULL }
static const abx_field abx_then_fields[] = {
    ABX_WORD("straight on", AB_THEN_STRAIGHT_ON), ABX_WORD("left", AB_THEN_LEFT), ABX_WORD("right", AB_THEN_RIGHT), ABX_WORD("arrive", AB_THEN_ARRIVE),
};
ABX_TABLE(abx_then, int32_t);
static const abx_field abx_leg_fields[] = {
    ABX_AT(ABX_F_TEXT, ab_leg, lane), ABX_AT(ABX_F_REAL, ab_leg, from_m), ABX_AT(ABX_F_REAL, ab_leg, to_m), ABX_IN(ABX_F_WORD, ab_leg, then, abx_then_table),
};
ABX_TABLE(abx_leg, ab_leg);
static const abx_field abx_begin_fields[] = {
    ABX_AT(ABX_F_UINT64, ab_begin, seed),
    ABX_AT(ABX_F_TEXT, ab_begin, scenario),
    ABX_LIST(ABX_F_REALS, ab_begin, "params", params, param_count, abx_real_row),
    ABX_AT(ABX_F_REAL, ab_begin, cycle_s),
    ABX_AT(ABX_F_REAL, ab_begin, until_s),
    ABX_IN(ABX_F_MAP, ab_begin, start, abx_start_table),
    ABX_IN(ABX_F_MAP, ab_begin, goal, abx_goal_table),
    ABX_IN(ABX_F_MAP, ab_begin, car, abx_car_table),
    ABX_IN(ABX_F_MAP, ab_begin, path, abx_path_table),
    ABX_IN(ABX_F_MAP, ab_begin, periods, abx_periods_table),
    ABX_LIST(ABX_F_ROWS, ab_begin, "walls", walls, wall_count, abx_wall_row),
    ABX_LIST(ABX_F_MAPS, ab_begin, "route", route, leg_count, abx_leg_table),
};
ABX_TABLE(abx_begin, ab_begin);
static const abx_field abx_pose_seen_fields[] = {
    ABX_AT(ABX_F_REAL, ab_pose_seen, x), ABX_AT(ABX_F_REAL, ab_pose_seen, y), ABX_AT(ABX_F_REAL, ab_pose_seen, heading), ABX_AT(ABX_F_REALS9, ab_pose_seen, covariance),
};
ABX_TABLE(abx_pose_seen, ab_pose_seen);
static const abx_field abx_path_seen_fields[] = {
    ABX_AT(ABX_F_REAL, ab_path_seen, station),     ABX_AT(ABX_F_REAL, ab_path_seen, lateral),   ABX_AT(ABX_F_REAL, ab_path_seen, heading),
    ABX_AT(ABX_F_REAL, ab_path_seen, curvature),   ABX_AT(ABX_F_REAL, ab_path_seen, remaining), ABX_AT(ABX_F_REAL, ab_path_seen, speed_max),
    ABX_AT(ABX_F_INT32, ab_path_seen, direction),  ABX_AT(ABX_F_UINT32, ab_path_seen, section), ABX_AT(ABX_F_UINT32, ab_path_seen, sections_left),
    ABX_AT(ABX_F_REAL, ab_path_seen, to_end),
};
ABX_TABLE(abx_path_seen, ab_path_seen);
static const abx_field abx_goal_seen_fields[] = {
    ABX_AT(ABX_F_REAL, ab_goal_seen, ahead), ABX_AT(ABX_F_REAL, ab_goal_seen, left), ABX_AT(ABX_F_REAL, ab_goal_seen, heading),
};
ABX_TABLE(abx_goal_seen, ab_goal_seen);
static const abx_field abx_object_fields[] = {
    ABX_AT(ABX_F_UINT32, ab_object, id),   ABX_AT(ABX_F_REAL, ab_object, x),      ABX_AT(ABX_F_REAL, ab_object, y),     ABX_AT(ABX_F_REAL, ab_object, heading),
    ABX_AT(ABX_F_REAL, ab_object, speed),  ABX_AT(ABX_F_REAL, ab_object, length), ABX_AT(ABX_F_REAL, ab_object, width),
    ABX_AT(ABX_F_REAL, ab_object, vx),     ABX_AT(ABX_F_REAL, ab_object, vy),
};
ABX_TABLE(abx_object, ab_object);
static const abx_field abx_occupancy_fields[] = {
    ABX_AT(ABX_F_REAL, ab_occupancy, cell_m), ABX_AT(ABX_F_UINT32, ab_occupancy, columns), ABX_AT(ABX_F_UINT32, ab_occupancy, rows),
    ABX_LIST(ABX_F_BLOB, ab_occupancy, "cells", cells, cell_count, abx_byte_row),
};
ABX_TABLE(abx_occupancy, ab_occupancy);
static const abx_field abx_sign_fields[] = {
    ABX_WORD("none", AB_SIGN_NONE), ABX_WORD("stop", AB_SIGN_STOP), ABX_WORD("yield", AB_SIGN_YIELD), ABX_WORD("priority", AB_SIGN_PRIORITY),
};
ABX_TABLE(abx_sign, int32_t);
static const abx_field abx_light_fields[] = {
    ABX_WORD("red", AB_LIGHT_RED),     ABX_WORD("red-amber", AB_LIGHT_RED_AMBER), ABX_WORD("amber", AB_LIGHT_AMBER),
    ABX_WORD("green", AB_LIGHT_GREEN), ABX_WORD("dark", AB_LIGHT_DARK),
};
ABX_TABLE(abx_light, int32_t);
static const abx_field abx_line_fields[] = {
    ABX_AT(ABX_F_REAL, ab_line, ahead), ABX_IN(ABX_F_WORD, ab_line, sign, abx_sign_table), ABX_IN(ABX_F_WORD, ab_line, light, abx_light_table),
};
ABX_TABLE(abx_line, ab_line);
static const abx_field abx_beside_fields[] = {
    ABX_AT(ABX_F_TEXT, ab_beside, lane), ABX_AT(ABX_F_REAL, ab_beside, apart), ABX_AT(ABX_F_BOOL, ab_beside, may_change),
};
ABX_TABLE(abx_beside, ab_beside);
static const abx_table abx_ahead_row = { NULL, 0, sizeof(ab_ahead) };
static const abx_field abx_road_fields[] = {
    ABX_AT(ABX_F_TEXT, ab_road, lane),
    ABX_AT(ABX_F_REAL, ab_road, station),
    ABX_AT(ABX_F_REAL, ab_road, lateral),
    ABX_AT(ABX_F_REAL, ab_road, heading),
    ABX_AT(ABX_F_REAL, ab_road, width),
    ABX_AT(ABX_F_REAL, ab_road, speed_limit),
    ABX_IN(ABX_F_MAYBE, ab_road, left, abx_beside_table),
    ABX_IN(ABX_F_MAYBE, ab_road, right, abx_beside_table),
    ABX_IN(ABX_F_WORD, ab_road, then, abx_then_table),
    ABX_AT(ABX_F_REAL, ab_road, then_in),
    ABX_AT(ABX_F_REAL, ab_road, route_left),
    ABX_LIST(ABX_F_ROWS, ab_road, "ahead", ahead, ahead_count, abx_ahead_row),
    ABX_AT(ABX_F_REAL, ab_road, step),
    ABX_LIST(ABX_F_MAPS, ab_road, "lines", lines, line_count, abx_line_table),
};
ABX_TABLE(abx_road, ab_road);
static const abx_field abx_plain_fields[] = {
    ABX_AT(ABX_F_REAL, ab_plain, weather),    ABX_AT(ABX_F_REAL, ab_plain, x),           ABX_AT(ABX_F_REAL, ab_plain, y),
    ABX_AT(ABX_F_REAL, ab_plain, compass),    ABX_AT(ABX_F_REAL, ab_plain, speed),       ABX_AT(ABX_F_REAL, ab_plain, steer),
    ABX_AT(ABX_F_REAL, ab_plain, to_right),   ABX_AT(ABX_F_REAL, ab_plain, front_left),  ABX_AT(ABX_F_REAL, ab_plain, front_right),
    ABX_AT(ABX_F_REAL, ab_plain, rear_left),  ABX_AT(ABX_F_REAL, ab_plain, rear_right),
};
ABX_TABLE(abx_plain, ab_plain);
static const abx_field abx_seen_fields[] = {
    ABX_AT(ABX_F_REAL, ab_seen, time),
    ABX_AT(ABX_F_UINT64, ab_seen, tick),
    ABX_IN(ABX_F_MAP, ab_seen, pose, abx_pose_seen_table),
    ABX_AT(ABX_F_REAL, ab_seen, speed),
    ABX_AT(ABX_F_REAL, ab_seen, steer),
    ABX_AT(ABX_F_INT32, ab_seen, gear),
    ABX_IN(ABX_F_MAP, ab_seen, path, abx_path_seen_table),
    ABX_IN(ABX_F_MAP, ab_seen, goal, abx_goal_seen_table),
    ABX_LIST(ABX_F_MAPS, ab_seen, "objects", objects, object_count, abx_object_table),
    ABX_IN(ABX_F_MAYBE, ab_seen, road, abx_road_table),
    ABX_IN(ABX_F_MAYBE, ab_seen, plain, abx_plain_table),
    ABX_IN(ABX_F_MAP, ab_seen, occupancy, abx_occupancy_table),
};
ABX_TABLE(abx_seen, ab_seen);

static void abx_take_map(abx_reader *in, const abx_table *table, unsigned char *to, abx_chunk **arena);

static void abx_take_text(abx_reader *in, unsigned char *to, abx_chunk **arena) {
    abx_item item = abx_take(in);
    char *text;
    if (item.kind != ABX_TEXT) {
        abx_broken(in, "not a text");
        return;
    }
    text = (char *)abx_allot(arena, (size_t)item.number + 1);
    memcpy(text, item.data, (size_t)item.number);
    text[item.number] = 0;
    memcpy(to, &text, sizeof text);
}

/* Blobs stay where they are: in the message. */
static void abx_take_blob(abx_reader *in, const abx_field *field, unsigned char *base) {
    abx_item item = abx_take(in);
    size_t size = (size_t)item.number;
    if (item.kind != ABX_BLOB) {
        abx_broken(in, "not a blob");
        return;
    }
    memcpy(base + field->offset, &item.data, sizeof item.data);
    memcpy(base + field->count_offset, &size, sizeof size);
}

static void abx_take_list(abx_reader *in, const abx_field *field, unsigned char *base, abx_chunk **arena) {
    const size_t size = field->table->size, columns = size / sizeof(double);
    const size_t count = (size_t)abx_take_members(in, field->kind == ABX_F_MAPS ? ABX_OBJECTS_MAX : ABX_ROWS_MAX);
    unsigned char *rows;
    size_t at, column;
    if (count == 0 || in->problem != NULL) return;
    rows = (unsigned char *)abx_allot(arena, count * size);
    memset(rows, 0, count * size);
    for (at = 0; at < count && in->problem == NULL; at++) {
        if (field->kind == ABX_F_MAPS) {
            abx_take_map(in, field->table, rows + at * size, arena);
            continue;
        }
        if (field->kind == ABX_F_ROWS && abx_take_members(in, columns) != columns) abx_broken(in, "a row of another length");
        for (column = 0; column < columns; column++) {
            double value = abx_take_real(in);
            memcpy(rows + at * size + column * sizeof value, &value, sizeof value);
        }
    }
    memcpy(base + field->offset, &rows, sizeof rows);
    memcpy(base + field->count_offset, &count, sizeof count);
}

static int32_t abx_take_word(abx_reader *in, const abx_table *words) {
    abx_item item = abx_take(in);
    size_t at;
    if (item.kind == ABX_NIL) return 0;
    if (item.kind != ABX_TEXT) abx_broken(in, "not a text");
    for (at = 0; at < words->field_count; at++) {
        if (abx_is(&item, words->fields[at].name)) return (int32_t)words->fields[at].offset;
    }
    return AB_UNKNOWN;
}

static int32_t abx_take_bool(abx_reader *in) {
    abx_item item = abx_take(in);
    if (item.kind != ABX_BOOL && item.kind != ABX_NIL) abx_broken(in, "neither true nor false");
    return (int32_t)(item.number & 1u);
}

/* A struct of its own, if there is one. */
static void abx_take_maybe(abx_reader *in, const abx_field *field, unsigned char *to, abx_chunk **arena) {
    unsigned char *part;
    if (in->problem == NULL && in->at < in->end && *in->at == 0xc0) {
        abx_skip(in);
        return;
    }
    part = (unsigned char *)abx_allot(arena, field->table->size);
    memset(part, 0, field->table->size);
    abx_take_map(in, field->table, part, arena);
    memcpy(to, &part, sizeof part);
}

static void abx_take_field(abx_reader *in, const abx_field *field, unsigned char *base, abx_chunk **arena) {
    unsigned char *to = base + field->offset;
    size_t at;
    switch (field->kind) {
    case ABX_F_REAL: {
        double value = abx_take_real(in);
        memcpy(to, &value, sizeof value);
        break;
    }
    case ABX_F_UINT64: {
        uint64_t value = abx_take_uint(in, UINT64_MAX);
        memcpy(to, &value, sizeof value);
        break;
    }
    case ABX_F_UINT32: {
        uint32_t value = (uint32_t)abx_take_uint(in, UINT32_MAX);
        memcpy(to, &value, sizeof value);
        break;
    }
    case ABX_F_INT32: {
        int32_t value = abx_take_int32(in);
        memcpy(to, &value, sizeof value);
        break;
    }
    case ABX_F_REALS9:
        if (abx_take_members(in, 9) != 9) abx_broken(in, "not nine numbers");
        for (at = 0; at < 9; at++) {
            double value = abx_take_real(in);
            memcpy(to + at * sizeof value, &value, sizeof value);
        }
        break;
    case ABX_F_BOOL:
    case ABX_F_WORD: {
        int32_t value = field->kind == ABX_F_BOOL ? abx_take_bool(in) : abx_take_word(in, field->table);
        memcpy(to, &value, sizeof value);
        break;
    }
    case ABX_F_MAYBE: abx_take_maybe(in, field, to, arena); break;
    case ABX_F_TEXT: abx_take_text(in, to, arena); break;
    case ABX_F_BLOB: abx_take_blob(in, field, base); break;
    case ABX_F_MAP: abx_take_map(in, field->table, to, arena); break;
    default: abx_take_list(in, field, base, arena); break;
    }
}

/* Unknown keys are ignored, missing ones stay zero. Keys mostly come in the order of the table. */
static void abx_take_map(abx_reader *in, const abx_table *table, unsigned char *to, abx_chunk **arena) {
    abx_item map = abx_take(in);
    uint64_t pair;
    size_t next = 0;
    if (map.kind == ABX_NIL) return;
    if (map.kind != ABX_MAP) abx_broken(in, "not a map");
    for (pair = 0; pair < map.number && in->problem == NULL; pair++) {
        abx_item key = abx_take(in);
        size_t tries = 0;
        while (tries < table->field_count && !abx_is(&key, table->fields[next].name)) {
            next = (next + 1) % table->field_count;
            tries++;
        }
        if (tries == table->field_count) {
            abx_skip(in);
            continue;
        }
        abx_take_field(in, &table->fields[next], to, arena);
        if (in->problem != NULL && in->field == NULL) in->field = table->fields[next].name;
        next = (next + 1) % table->field_count;
    }
}

/* Says what is wrong with a request, and where. */
static const char *abx_complaint(const abx_reader *in, const char *what) {
    const char *field = in->field == NULL ? "" : in->field;
    ab_fail("malformed %s at byte %lu%s%s: %s", what, (unsigned long)(in->at - in->begin), *field != 0 ? ", field " : "", field, in->problem);
    return abx_text;
}

/* ---- Branches and saved states by number ---- */

typedef struct abx_branch {
    uint32_t number;
    /* AB_MEMORY: a copy of the state. AB_COPY: an object. */
    void *object;
    /* AB_OWN: its bytes, while another branch has its turn. */
    abx_bytes bytes;
    /* AB_FORK: the process, and which operation (plus one) it is working on. */
    int fd;
    pid_t pid;
    size_t busy;
} abx_branch;

/* Open addressing; the room is a power of two and never more than half full. */
typedef struct abx_numbers {
    abx_branch **slots;
    size_t count, room;
} abx_numbers;

static size_t abx_place(const abx_numbers *numbers, uint32_t number) {
    return (size_t)(number * 2654435769u) & (numbers->room - 1);
}

static abx_branch *abx_find(const abx_numbers *numbers, uint32_t number) {
    size_t at;
    if (numbers->room == 0) return NULL;
    for (at = abx_place(numbers, number); numbers->slots[at] != NULL; at = (at + 1) & (numbers->room - 1)) {
        if (numbers->slots[at]->number == number) return numbers->slots[at];
    }
    return NULL;
}

static void abx_drop_in(abx_numbers *numbers, abx_branch *branch) {
    size_t at = abx_place(numbers, branch->number);
    while (numbers->slots[at] != NULL) at = (at + 1) & (numbers->room - 1);
    numbers->slots[at] = branch;
}

static void abx_insert(abx_numbers *numbers, abx_branch *branch) {
    if (2 * (numbers->count + 1) > numbers->room) {
        abx_numbers old = *numbers;
        size_t at;
        numbers->room = old.room == 0 ? 64 : 2 * old.room;
        numbers->slots = (abx_branch **)abx_need(calloc(numbers->room, sizeof *numbers->slots));
        for (at = 0; at < old.room; at++) {
            if (old.slots[at] != NULL) abx_drop_in(numbers, old.slots[at]);
        }
        free(old.slots);
    }
    abx_drop_in(numbers, branch);
    numbers->count += 1;
}

/* Takes one out and closes the gap: those that follow without a hole move up. */
static abx_branch *abx_remove(abx_numbers *numbers, uint32_t number) {
    abx_branch *found = abx_find(numbers, number);
    size_t at;
    if (found == NULL) return NULL;
    at = abx_place(numbers, number);
    while (numbers->slots[at] != found) at = (at + 1) & (numbers->room - 1);
    numbers->slots[at] = NULL;
    numbers->count -= 1;
    for (at = (at + 1) & (numbers->room - 1); numbers->slots[at] != NULL; at = (at + 1) & (numbers->room - 1)) {
        abx_branch *moved = numbers->slots[at];
        numbers->slots[at] = NULL;
        abx_drop_in(numbers, moved);
    }
    return found;
}

/* ---- The kit ---- */

typedef struct abx_kit {
    /* One of them is NULL. */
    const ab_driver *driver;
    const ab_world *world;
    int (*reset)(void *self, const ab_begin *begin);
    void *state;
    size_t state_bytes;
    void *(*copy)(const void *self);
    void (*destroy)(void *self);
    long (*save)(void *self, void *into, size_t room);
    int (*load)(void *self, const void *bytes, size_t count);
    int memoryless;
    const char *name, *endpoint;
    /* How branches are kept: never AB_AUTO or AB_REPLAY. */
    ab_snapshot snapshot;
    /* Whether states are saved. */
    int saves;
    abx_numbers branches, tokens;
    /* The state as it was in the beginning (AB_MEMORY, AB_OWN without reset). */
    abx_bytes pristine;
    /* AB_OWN: whose turn it is. */
    abx_branch *turn;
    abx_chunk *arena;
    double seconds;
    int bye;
    /* AB_FORK: the process all others come from, the broker, the link, and answers that are not there yet. */
    abx_branch first;
    pid_t broker;
    int link_fd;
    abx_bytes *answers;
    uint32_t *busy;
    size_t busy_count;
} abx_kit;

static int abx_save_bytes(abx_kit *kit, abx_bytes *bytes) {
    int tries;
    for (tries = 0; tries < 3; tries++) {
        long size;
        bytes->size = 0;
        size = kit->save(kit->state, bytes->data, bytes->room);
        if (size < 0 || (size_t)size > ABX_MESSAGE_BYTES_MAX) return -1;
        if ((size_t)size <= bytes->room) {
            bytes->size = (size_t)size;
            return 0;
        }
        abx_extend(bytes, (size_t)size);
    }
    return -1;
}

static void abx_end_process(abx_branch *branch);

static void abx_destroy(abx_kit *kit, abx_branch *branch) {
    if (branch == NULL) return;
    if (kit->turn == branch) kit->turn = NULL;
    if (kit->snapshot == AB_FORK) abx_end_process(branch);
    if (kit->snapshot == AB_MEMORY) free(branch->object);
    if (kit->snapshot == AB_COPY && branch->object != NULL) kit->destroy(branch->object);
    abx_free(&branch->bytes);
    free(branch);
}

static void abx_destroy_all(abx_kit *kit, abx_numbers *numbers) {
    size_t at;
    for (at = 0; at < numbers->room; at++) abx_destroy(kit, numbers->slots[at]);
    free(numbers->slots);
    memset(numbers, 0, sizeof *numbers);
}

static abx_branch *abx_new_branch(uint32_t number) {
    abx_branch *branch = (abx_branch *)abx_need(calloc(1, sizeof *branch));
    branch->number = number;
    branch->fd = -1;
    return branch;
}

/* Puts the branch whose turn it is aside. */
static int abx_yield(abx_kit *kit) {
    abx_branch *turn = kit->turn;
    kit->turn = NULL;
    return turn == NULL ? 0 : abx_save_bytes(kit, &turn->bytes);
}

/* The object that belongs to a branch, NULL if it cannot be brought back. */
static void *abx_self(abx_kit *kit, abx_branch *branch) {
    if (kit->snapshot == AB_MEMORY) return kit->state_bytes > 0 ? branch->object : kit->state;
    if (kit->snapshot == AB_COPY) return branch->object;
    if (kit->turn != branch) {
        if (abx_yield(kit) != 0 || kit->load(kit->state, branch->bytes.data, branch->bytes.size) != 0) return NULL;
        kit->turn = branch;
    }
    return kit->state;
}

static void abx_copy_state(abx_kit *kit, abx_branch *to, const void *from) {
    if (kit->snapshot == AB_MEMORY && kit->state_bytes > 0) {
        to->object = abx_need(malloc(kit->state_bytes));
        memcpy(to->object, from, kit->state_bytes);
    } else if (kit->snapshot == AB_COPY) {
        to->object = kit->copy(from);
    }
}

/* ---- One operation ---- */

enum { ABX_DESCRIBE, ABX_RESET, ABX_LOAD, ABX_STEP, ABX_RUN, ABX_SAVE, ABX_DROP, ABX_BYE, ABX_UNKNOWN };

static const char *const abx_verbs[] = { "describe", "reset", "load", "step", "run", "save", "drop", "bye" };

typedef struct abx_op {
    int verb;
    int has_branch, has_token, record;
    uint32_t branch, token;
    /* Where begin, seen, modes or tokens are read from; at the end if there are none. */
    abx_reader body;
    const unsigned char *raw;
    size_t raw_size;
} abx_op;

static int abx_verb_of(const abx_item *item) {
    int verb;
    for (verb = 0; verb < ABX_UNKNOWN; verb++) {
        if (abx_is(item, abx_verbs[verb])) break;
    }
    return verb;
}

static void abx_take_op_fields(abx_reader *in, abx_op *op) {
    abx_item map = abx_take(in);
    uint64_t pair;
    if (map.kind == ABX_NIL) return;
    if (map.kind != ABX_MAP) abx_broken(in, "not a map");
    for (pair = 0; pair < map.number && in->problem == NULL; pair++) {
        abx_item key = abx_take(in);
        if (abx_is(&key, "branch")) {
            op->branch = (uint32_t)abx_take_uint(in, UINT32_MAX);
            op->has_branch = 1;
        } else if (abx_is(&key, "token")) {
            op->token = (uint32_t)abx_take_uint(in, UINT32_MAX);
            op->has_token = 1;
        } else if (abx_is(&key, "record")) {
            abx_item item = abx_take(in);
            op->record = item.kind == ABX_BOOL && item.number != 0;
        } else if (abx_is(&key, "begin") || abx_is(&key, "seen") || abx_is(&key, "modes") || abx_is(&key, "tokens")) {
            op->body = *in;
            abx_skip(in);
        } else {
            abx_skip(in);
        }
    }
}

/* Reads one operation; afterwards `in` is behind it, whatever was wrong inside. */
static abx_op abx_take_op(abx_reader *in, abx_reader *problem) {
    abx_op op;
    abx_reader inside = *in;
    abx_item item;
    memset(&op, 0, sizeof op);
    op.raw = in->at;
    abx_skip(in);
    op.raw_size = (size_t)(in->at - op.raw);
    inside.end = in->at;
    op.body = *in;
    op.body.end = in->at;
    item = abx_take(&inside);
    if (item.kind == ABX_MAP && item.number == 1) {
        item = abx_take(&inside);
        op.verb = abx_verb_of(&item);
        if (op.verb != ABX_UNKNOWN) abx_take_op_fields(&inside, &op);
    } else {
        op.verb = abx_verb_of(&item);
    }
    if (op.verb == ABX_UNKNOWN) abx_broken(&inside, "no verb of this protocol");
    *problem = inside;
    return op;
}

/* What is said when user code returned nonzero. */
static void abx_put_failure(abx_bytes *out, const char *function, int status) {
    if (abx_text[0] == 0) ab_fail("%s returned %d", function, status);
    abx_put_failed(out, abx_text);
}

static int abx_call_reset(abx_kit *kit, void *self, abx_op *op, abx_bytes *out) {
    ab_begin begin;
    int status = 0;
    double since_s;
    memset(&begin, 0, sizeof begin);
    begin.scenario = "";
    if (op->body.at != op->body.end) abx_take_map(&op->body, &abx_begin_table, (unsigned char *)&begin, &kit->arena);
    if (op->body.problem != NULL) {
        abx_put_failed(out, abx_complaint(&op->body, "begin"));
        return -1;
    }
    abx_text[0] = 0;
    since_s = abx_now_s();
    if (kit->reset != NULL) status = kit->reset(self, &begin);
    kit->seconds += abx_now_s() - since_s;
    if (status != 0) {
        abx_put_failure(out, "reset", status);
    } else {
        abx_put_done(out);
    }
    return status;
}

static void abx_put_decision(const abx_kit *kit, const ab_decision *decision, abx_bytes *out) {
    size_t at, count = decision->trajectory == NULL ? 0 : decision->trajectory_count;
    abx_put_map(out, 1);
    abx_put_text(out, "decision");
    abx_put_map(out, (size_t)5 + (count > 0));
    abx_put_text(out, "steer");
    abx_put_real(out, decision->steer);
    abx_put_text(out, "accel");
    abx_put_real(out, decision->accel);
    abx_put_text(out, "gear");
    if (decision->gear == 0) {
        abx_put_nil(out);
    } else {
        abx_put_int(out, decision->gear);
    }
    abx_put_text(out, "completed");
    abx_put_bool(out, decision->completed);
    abx_put_text(out, "key");
    abx_put_reals(out, decision->key, kit->driver->key_count);
    if (count == 0) return;
    abx_put_text(out, "trajectory");
    abx_put_array(out, count);
    for (at = 0; at < count; at++) {
        const ab_trajectory_point *point = &decision->trajectory[at];
        abx_put_map(out, 5);
        abx_put_text(out, "time_s");
        abx_put_real(out, point->time_s);
        abx_put_text(out, "x_m");
        abx_put_real(out, point->x_m);
        abx_put_text(out, "y_m");
        abx_put_real(out, point->y_m);
        abx_put_text(out, "heading_rad");
        abx_put_real(out, point->heading_rad);
        abx_put_text(out, "speed_mps");
        abx_put_real(out, point->speed_mps);
    }
}

static void abx_call_step(abx_kit *kit, void *self, abx_op *op, abx_bytes *out) {
    ab_seen seen;
    ab_decision decision;
    int status;
    double since_s;
    memset(&seen, 0, sizeof seen);
    memset(&decision, 0, sizeof decision);
    if (kit->driver == NULL) {
        abx_put_failed(out, "a world has no step");
        return;
    }
    if (op->body.at != op->body.end) abx_take_map(&op->body, &abx_seen_table, (unsigned char *)&seen, &kit->arena);
    if (op->body.problem != NULL) {
        abx_put_failed(out, abx_complaint(&op->body, "seen"));
        return;
    }
    abx_text[0] = 0;
    since_s = abx_now_s();
    status = kit->driver->step(self, &seen, &decision);
    kit->seconds += abx_now_s() - since_s;
    if (status != 0) {
        abx_put_failure(out, "step", status);
    } else {
        abx_put_decision(kit, &decision, out);
    }
}

typedef struct abx_frames {
    abx_bytes values;
    size_t count, columns;
} abx_frames;

void ab_frame(ab_segment *segment, const double *values) {
    abx_frames *frames = (abx_frames *)segment->frames;
    if (frames == NULL || frames->columns == 0) return;
    abx_put(&frames->values, values, frames->columns * sizeof *values);
    frames->count += 1;
}

static void abx_put_names(abx_bytes *out, const ab_world *world, const unsigned char *flags) {
    size_t at, count = 0;
    for (at = 0; at < world->requirement_count; at++) count += flags[at] != 0;
    abx_put_array(out, count);
    for (at = 0; at < world->requirement_count; at++) {
        if (flags[at] != 0) abx_put_text(out, world->requirements[at]);
    }
}

static void abx_put_segment(const ab_world *world, const ab_segment *segment, const abx_frames *frames, abx_bytes *out) {
    size_t at, column;
    abx_put_map(out, 1);
    abx_put_text(out, "segment");
    abx_put_map(out, 7);
    abx_put_text(out, "values");
    abx_put_reals(out, segment->values, world->merge_count);
    abx_put_text(out, "violated");
    abx_put_names(out, world, segment->violated);
    abx_put_text(out, "notes");
    abx_put_names(out, world, segment->notes);
    abx_put_text(out, "done");
    abx_put_bool(out, segment->done);
    abx_put_text(out, "danger");
    abx_put_real(out, segment->danger);
    abx_put_text(out, "margin");
    if (segment->margin < INFINITY || segment->margin != segment->margin) {
        abx_put_real(out, segment->margin);
    } else {
        abx_put_nil(out);
    }
    abx_put_text(out, "frames");
    abx_put_array(out, frames->count);
    for (at = 0; at < frames->count; at++) {
        abx_put_array(out, frames->columns);
        for (column = 0; column < frames->columns; column++) {
            double value;
            memcpy(&value, frames->values.data + (at * frames->columns + column) * sizeof value, sizeof value);
            abx_put_real(out, value);
        }
    }
}

/* Reads the modes of a segment; returns how many. */
static size_t abx_take_modes(abx_kit *kit, abx_op *op, const uint16_t **modes) {
    size_t at, count;
    uint16_t *list;
    if (op->body.at == op->body.end) return 0;
    count = (size_t)abx_take_members(&op->body, ABX_MODES_MAX);
    list = (uint16_t *)abx_allot(&kit->arena, (count + 1) * sizeof *list);
    for (at = 0; at < count; at++) {
        list[at] = (uint16_t)abx_take_uint(&op->body, UINT16_MAX);
        if (at < kit->world->site_count && list[at] >= kit->world->sites[at].mode_count) abx_broken(&op->body, "a mode that its site does not have");
    }
    if (count != kit->world->site_count) abx_broken(&op->body, "not one mode for each site");
    *modes = list;
    return count;
}

static void abx_call_run(abx_kit *kit, void *self, abx_op *op, abx_bytes *out) {
    ab_run run;
    ab_segment segment;
    abx_frames frames;
    int status;
    double since_s;
    memset(&run, 0, sizeof run);
    memset(&segment, 0, sizeof segment);
    memset(&frames, 0, sizeof frames);
    if (kit->world == NULL) {
        abx_put_failed(out, "a driver runs no segments");
        return;
    }
    run.mode_count = abx_take_modes(kit, op, &run.modes);
    run.record = op->record;
    if (op->body.problem != NULL) {
        abx_put_failed(out, abx_complaint(&op->body, "modes"));
        return;
    }
    frames.columns = kit->world->signal_count;
    segment.margin = INFINITY;
    segment.frames = op->record ? &frames : NULL;
    abx_text[0] = 0;
    since_s = abx_now_s();
    status = kit->world->run(self, &run, &segment);
    kit->seconds += abx_now_s() - since_s;
    if (status != 0) {
        abx_put_failure(out, "run", status);
    } else {
        abx_put_segment(kit->world, &segment, &frames, out);
    }
    abx_free(&frames.values);
}

/* ---- The card ---- */

static void abx_put_variables(abx_bytes *out, const ab_variable *variables, size_t count) {
    size_t at;
    abx_put_array(out, count);
    for (at = 0; at < count; at++) {
        abx_put_map(out, 3);
        abx_put_text(out, "name");
        abx_put_text(out, variables[at].name);
        abx_put_text(out, "unit");
        abx_put_text(out, variables[at].unit);
        abx_put_text(out, "cell");
        if (variables[at].cell > 0.0) {
            abx_put_real(out, variables[at].cell);
        } else {
            abx_put_nil(out);
        }
    }
}

/* Words separated by blanks, as a list. */
static void abx_put_words(abx_bytes *out, const char *words) {
    char word[64];
    size_t count = 0;
    int pass;
    for (pass = 0; pass < 2; pass++) {
        const char *at = words == NULL ? "" : words;
        if (pass == 1) abx_put_array(out, count);
        for (at += strspn(at, " ,"); *at != 0; at += strspn(at, " ,")) {
            size_t size = strcspn(at, " ,");
            if (pass == 0) {
                count += 1;
            } else {
                snprintf(word, sizeof word, "%.*s", (int)(size < 63 ? size : 63), at);
                abx_put_text(out, word);
            }
            at += size;
        }
    }
}

static void abx_put_world(abx_bytes *out, const ab_world *world) {
    size_t at, mode;
    abx_put_map(out, world->should_count > 0 ? 10 : 9);
    abx_put_text(out, "sites");
    abx_put_array(out, world->site_count);
    for (at = 0; at < world->site_count; at++) {
        abx_put_map(out, 2);
        abx_put_text(out, "name");
        abx_put_text(out, world->sites[at].name);
        abx_put_text(out, "modes");
        abx_put_array(out, world->sites[at].mode_count);
        for (mode = 0; mode < world->sites[at].mode_count; mode++) abx_put_text(out, world->sites[at].modes[mode]);
    }
    abx_put_text(out, "at_once");
    if (world->at_once > 0) {
        abx_put_uint(out, world->at_once);
    } else {
        abx_put_nil(out);
    }
    abx_put_text(out, "merge");
    abx_put_variables(out, world->merge, world->merge_count);
    abx_put_text(out, "requirements");
    abx_put_array(out, world->requirement_count);
    for (at = 0; at < world->requirement_count; at++) abx_put_text(out, world->requirements[at]);
    if (world->should_count > 0) {
        size_t should = world->should_count < world->requirement_count ? world->should_count : world->requirement_count;
        abx_put_text(out, "musts");
        abx_put_uint(out, world->requirement_count - should);
    }
    abx_put_text(out, "signals");
    abx_put_variables(out, world->signals, world->signal_count);
    abx_put_text(out, "time_matters");
    abx_put_bool(out, world->time_matters);
    abx_put_text(out, "segment_s");
    abx_put_real(out, world->segment_s > 0.0 ? world->segment_s : 1.0);
    abx_put_text(out, "tick_s");
    abx_put_real(out, world->tick_s > 0.0 ? world->tick_s : 1.0);
    abx_put_text(out, "segments_max");
    abx_put_uint(out, world->segments_max > 0 ? world->segments_max : 20);
}

/* Whether `saved` brings bytes: the bytes of the state are its canonical form. */
static int abx_saves_bytes(const abx_kit *kit) {
    return kit->saves && (kit->snapshot == AB_MEMORY || kit->snapshot == AB_OWN);
}

static const char *abx_snapshot_name(const abx_kit *kit) {
    if (!kit->saves) return "none";
    if (kit->snapshot == AB_FORK) return "fork";
    return kit->snapshot == AB_COPY ? "copy" : "own";
}

static void abx_put_card(const abx_kit *kit, abx_bytes *out) {
    const ab_driver *driver = kit->driver;
    const char *version = driver != NULL ? driver->version : kit->world->version;
    abx_put_map(out, 1);
    abx_put_text(out, "card");
    abx_put_map(out, 12);
    abx_put_text(out, "protocol");
    abx_put_uint(out, ABX_PROTOCOL);
    abx_put_text(out, "role");
    abx_put_text(out, driver != NULL ? "driver" : "world");
    abx_put_text(out, "name");
    abx_put_text(out, kit->name);
    abx_put_text(out, "version");
    abx_put_text(out, version);
    abx_put_text(out, "support");
    abx_put_text(out, kit->saves ? "save" : "replay");
    abx_put_text(out, "snapshot");
    abx_put_text(out, abx_snapshot_name(kit));
    abx_put_text(out, "cycle_s");
    if (driver != NULL && driver->cycle_s > 0.0) {
        abx_put_real(out, driver->cycle_s);
    } else {
        abx_put_nil(out);
    }
    abx_put_text(out, "key");
    abx_put_variables(out, driver == NULL ? NULL : driver->key, driver == NULL ? 0 : driver->key_count);
    abx_put_text(out, "saves_bytes");
    abx_put_bool(out, abx_saves_bytes(kit));
    abx_put_text(out, "memoryless");
    abx_put_bool(out, kit->memoryless);
    abx_put_text(out, "wants");
    abx_put_words(out, driver == NULL ? NULL : driver->wants);
    abx_put_text(out, "world");
    if (driver == NULL) {
        abx_put_world(out, kit->world);
    } else {
        abx_put_nil(out);
    }
}

/* ---- Operations in this process ---- */

static void abx_put_no(abx_bytes *out, const char *what, uint32_t number) {
    ab_fail("there is no %s %lu", what, (unsigned long)number);
    abx_put_failed(out, abx_text);
}

static void abx_do_reset(abx_kit *kit, abx_op *op, abx_bytes *out) {
    abx_branch *branch;
    void *self = kit->state;
    int status = 0;
    abx_destroy(kit, abx_remove(&kit->branches, op->branch));
    if (kit->branches.count >= ABX_BRANCHES_MAX) {
        abx_put_failed(out, "too many branches at once");
        return;
    }
    branch = abx_new_branch(op->branch);
    abx_insert(&kit->branches, branch);
    if (kit->snapshot == AB_OWN) {
        status = abx_yield(kit);
        if (status == 0 && kit->reset == NULL) status = kit->load(kit->state, kit->pristine.data, kit->pristine.size);
        kit->turn = branch;
        if (status != 0) abx_put_failed(out, "the state could not be put aside");
    } else {
        abx_copy_state(kit, branch, kit->snapshot == AB_MEMORY ? (const void *)kit->pristine.data : kit->state);
        self = abx_self(kit, branch);
        if (self == NULL && kit->snapshot == AB_COPY) {
            status = -1;
            abx_put_failed(out, "copy returned nothing");
        }
    }
    if (status == 0) status = abx_call_reset(kit, self, op, out);
    if (status != 0) abx_destroy(kit, abx_remove(&kit->branches, op->branch));
}

static void abx_do_load(abx_kit *kit, const abx_op *op, abx_bytes *out) {
    abx_branch *token = abx_find(&kit->tokens, op->token), *branch;
    if (token == NULL) {
        abx_put_no(out, "saved state", op->token);
        return;
    }
    branch = abx_new_branch(op->branch);
    abx_copy_state(kit, branch, token->object);
    if (kit->snapshot == AB_OWN) abx_put(&branch->bytes, token->bytes.data, token->bytes.size);
    abx_destroy(kit, abx_remove(&kit->branches, op->branch));
    abx_insert(&kit->branches, branch);
    if (kit->snapshot == AB_COPY && branch->object == NULL) {
        abx_destroy(kit, abx_remove(&kit->branches, op->branch));
        abx_put_failed(out, "copy returned nothing");
    } else if (kit->snapshot == AB_OWN && abx_self(kit, branch) == NULL) {
        abx_put_failure(out, "load", -1);
        abx_destroy(kit, abx_remove(&kit->branches, op->branch));
    } else {
        abx_put_done(out);
    }
}

static void abx_do_save(abx_kit *kit, const abx_op *op, abx_bytes *out) {
    abx_branch *branch = abx_find(&kit->branches, op->branch);
    if (!kit->saves) {
        abx_put_failed(out, "this code saves nothing; it supports replay only");
        return;
    }
    if (branch == NULL) {
        abx_put_no(out, "branch", op->branch);
        return;
    }
    if (kit->turn == branch && abx_yield(kit) != 0) {
        abx_put_failure(out, "save", -1);
        abx_destroy(kit, abx_remove(&kit->branches, op->branch));
        return;
    }
    abx_remove(&kit->branches, op->branch);
    abx_destroy(kit, abx_remove(&kit->tokens, op->token));
    branch->number = op->token;
    abx_insert(&kit->tokens, branch);
    abx_put_map(out, 1);
    abx_put_text(out, "saved");
    abx_put_map(out, (size_t)abx_saves_bytes(kit));
    if (!abx_saves_bytes(kit)) return;
    abx_put_text(out, "bytes");
    if (kit->snapshot == AB_MEMORY) {
        abx_put_blob(out, branch->object, kit->state_bytes);
    } else {
        abx_put_blob(out, branch->bytes.data, branch->bytes.size);
    }
}

static void abx_do_drop(abx_kit *kit, abx_op *op, abx_bytes *out) {
    uint64_t at, count = op->body.at == op->body.end ? 0 : abx_take_members(&op->body, UINT32_MAX);
    for (at = 0; at < count && op->body.problem == NULL; at++) {
        uint32_t number = (uint32_t)abx_take_uint(&op->body, UINT32_MAX);
        if (op->body.problem == NULL) abx_destroy(kit, abx_remove(&kit->tokens, number));
    }
    if (op->body.problem != NULL) {
        abx_put_failed(out, abx_complaint(&op->body, "tokens"));
    } else {
        abx_put_done(out);
    }
}

static void abx_do_step_or_run(abx_kit *kit, abx_op *op, abx_bytes *out) {
    abx_branch *branch = abx_find(&kit->branches, op->branch);
    void *self;
    if (branch == NULL) {
        abx_put_no(out, "branch", op->branch);
        return;
    }
    self = abx_self(kit, branch);
    if (self == NULL && kit->snapshot != AB_MEMORY) {
        abx_put_failure(out, "load", -1);
    } else if (op->verb == ABX_STEP) {
        abx_call_step(kit, self, op, out);
    } else {
        abx_call_run(kit, self, op, out);
    }
}

/* NULL if the operation has all that its verb needs. */
static const char *abx_missing(const abx_op *op) {
    const int needs_branch = op->verb == ABX_RESET || op->verb == ABX_LOAD || op->verb == ABX_STEP || op->verb == ABX_RUN || op->verb == ABX_SAVE;
    const int needs_token = op->verb == ABX_LOAD || op->verb == ABX_SAVE;
    if (needs_branch && !op->has_branch) return "the operation names no branch";
    return needs_token && !op->has_token ? "the operation names no token" : NULL;
}

static void abx_do(abx_kit *kit, abx_op *op, abx_bytes *out) {
    switch (op->verb) {
    case ABX_DESCRIBE: abx_put_card(kit, out); break;
    case ABX_RESET: abx_do_reset(kit, op, out); break;
    case ABX_LOAD: abx_do_load(kit, op, out); break;
    case ABX_SAVE: abx_do_save(kit, op, out); break;
    case ABX_DROP: abx_do_drop(kit, op, out); break;
    case ABX_BYE:
        kit->bye = 1;
        abx_put_done(out);
        break;
    default: abx_do_step_or_run(kit, op, out); break;
    }
    abx_release(&kit->arena);
}

/* ---- Fork: a process for each branch and each saved state ----
 *
 * The broker speaks with Anabranch and runs no code of yours. All other processes come from a first one, forked before
 * anything else happened. A process waits for orders on its own socket: do an operation, or fork once more for a new
 * socket that comes with the order. A saved state is a process that waits. All of them are children of the broker
 * (CLONE_PARENT), so that it learns how they end, and so that they end with it (PR_SET_PDEATHSIG, and the end of the
 * socket). */

#define ABX_ORDER_OP 'o'
#define ABX_ORDER_FORK 'f'
#define ABX_ORDER_BYTES 5

static int abx_write_all(int fd, const void *data, size_t size) {
    const unsigned char *at = (const unsigned char *)data;
    while (size > 0) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return -1;
        at += sent;
        size -= (size_t)sent;
    }
    return 0;
}

static int abx_read_all(int fd, void *data, size_t size) {
    unsigned char *at = (unsigned char *)data;
    while (size > 0) {
        ssize_t got = recv(fd, at, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        at += got;
        size -= (size_t)got;
    }
    return 0;
}

/* The order to fork, with the socket of the new process. */
static int abx_send_fork(int fd, int passed) {
    unsigned char order[ABX_ORDER_BYTES] = { ABX_ORDER_FORK, 0, 0, 0, 0 };
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part;
    struct msghdr message;
    struct cmsghdr *header;
    ssize_t sent;
    memset(&message, 0, sizeof message);
    memset(&control, 0, sizeof control);
    part.iov_base = order;
    part.iov_len = sizeof order;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &passed, sizeof passed);
    do {
        sent = sendmsg(fd, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof order ? 0 : -1;
}

/* Waits for an order; the socket that came with it, or -1, is in `passed`. Negative when the broker is gone. */
static int abx_receive_order(int fd, unsigned char *order, int *passed) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part;
    struct msghdr message;
    struct cmsghdr *header;
    ssize_t got;
    memset(&message, 0, sizeof message);
    *passed = -1;
    part.iov_base = order;
    part.iov_len = ABX_ORDER_BYTES;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    do {
        got = recvmsg(fd, &message, 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return -1;
    header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) memcpy(passed, CMSG_DATA(header), sizeof *passed);
    if (got == ABX_ORDER_BYTES) return 0;
    return abx_read_all(fd, order + got, (size_t)(ABX_ORDER_BYTES - got));
}

/* A process of its own whose parent is the broker; 0 in the new one, negative if there can be none. */
static pid_t abx_fork_sibling(void) {
    int status;
    pid_t pid;
#ifdef __linux__
    pid = (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_PARENT | SIGCHLD), 0UL, 0UL, 0UL, 0UL);
    if (pid >= 0 || (errno != EINVAL && errno != ENOSYS)) return pid;
#endif
    /* Elsewhere: a grandchild that nobody has to wait for. */
    pid = fork();
    if (pid == 0) {
        pid = fork();
        if (pid != 0) _exit(pid < 0);
        return 0;
    }
    if (pid < 0) return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? pid : -1;
}

/* The first words of a new process: its number. And its bond to the broker. */
static void abx_greet_broker(const abx_kit *kit, int fd) {
    int64_t pid = (int64_t)getpid();
#ifdef __linux__
    if (getppid() == kit->broker) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != kit->broker) _exit(0);
    }
#else
    (void)kit;
#endif
    if (abx_write_all(fd, &pid, sizeof pid) != 0) _exit(0);
}

static void abx_obey_op(abx_kit *kit, int fd, const unsigned char *data, size_t size, abx_bytes *out) {
    abx_reader in = abx_reader_of(data, size), problem;
    abx_op op = abx_take_op(&in, &problem);
    uint32_t answer_size;
    out->size = 0;
    kit->seconds = 0.0;
    /* Room for what comes before the answer. */
    abx_extend(out, sizeof answer_size + sizeof kit->seconds);
    if (op.verb == ABX_RESET) {
        abx_call_reset(kit, kit->state, &op, out);
    } else if (op.verb == ABX_STEP) {
        abx_call_step(kit, kit->state, &op, out);
    } else {
        abx_call_run(kit, kit->state, &op, out);
    }
    abx_release(&kit->arena);
    fflush(NULL);
    answer_size = (uint32_t)(out->size - sizeof answer_size - sizeof kit->seconds);
    memcpy(out->data, &answer_size, sizeof answer_size);
    memcpy(out->data + sizeof answer_size, &kit->seconds, sizeof kit->seconds);
    if (abx_write_all(fd, out->data, out->size) != 0) _exit(0);
}

/* The life of every process but the broker. It never returns. */
static void abx_obey(abx_kit *kit, int fd) {
    abx_bytes request, answer;
    memset(&request, 0, sizeof request);
    memset(&answer, 0, sizeof answer);
    abx_greet_broker(kit, fd);
    for (;;) {
        unsigned char order[ABX_ORDER_BYTES];
        uint32_t size;
        int passed;
        if (abx_receive_order(fd, order, &passed) != 0) _exit(0);
        memcpy(&size, order + 1, sizeof size);
        if (order[0] == ABX_ORDER_FORK && passed >= 0) {
            fcntl(passed, F_SETFD, FD_CLOEXEC);
            fflush(NULL);
            if (abx_fork_sibling() == 0) {
                close(fd);
                fd = passed;
                abx_greet_broker(kit, fd);
            } else {
                close(passed);
            }
        } else {
            request.size = 0;
            abx_extend(&request, size);
            if (abx_read_all(fd, request.data, size) != 0) _exit(0);
            abx_obey_op(kit, fd, request.data, size, &answer);
        }
    }
}

/* ---- The broker's side ---- */

static void abx_end_process(abx_branch *branch) {
    int status;
    if (branch->fd >= 0) close(branch->fd);
    branch->fd = -1;
    if (branch->pid <= 0) return;
    kill(branch->pid, SIGKILL);
    while (waitpid(branch->pid, &status, 0) < 0 && errno == EINTR) {
    }
    branch->pid = 0;
}

/* How a process that stopped talking ended. One that closed its socket and lives on is ended. */
static void abx_autopsy(abx_branch *branch, char *text, size_t room) {
    int status = 0, tries;
    pid_t pid = 0;
    for (tries = 0; branch->pid > 0 && tries < 200 && pid == 0; tries++) {
        pid = waitpid(branch->pid, &status, WNOHANG);
        if (pid == 0) poll(NULL, 0, 1);
    }
    if (pid == 0) {
        snprintf(text, room, "crash: the process of the branch closed its socket");
        abx_end_process(branch);
        return;
    }
    branch->pid = 0;
    if (pid > 0 && WIFSIGNALED(status)) {
        snprintf(text, room, "crash: the process of the branch ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (pid > 0) {
        snprintf(text, room, "crash: the process of the branch ended with exit status %d", WEXITSTATUS(status));
    } else {
        snprintf(text, room, "crash: the process of the branch ended");
    }
}

/* Whether a process has ended; it stays to be waited for. Its socket does not tell: processes it started may have it too. */
static int abx_has_ended(pid_t pid) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Waits until a process has something to say; negative if it has ended, or Anabranch is gone meanwhile. */
static int abx_await(const abx_kit *kit, int fd, pid_t pid) {
    struct pollfd waits[2];
    for (;;) {
        int found, ended = 0;
        waits[0].fd = fd;
        waits[0].events = POLLIN;
        waits[1].fd = kit->link_fd;
        waits[1].events = POLLRDHUP;
        waits[0].revents = waits[1].revents = 0;
        found = poll(waits, 2, ABX_LOOK_MS);
        if (found < 0 && errno != EINTR) return -1;
        if (found == 0 && abx_has_ended(pid)) {
            /* Its last words may have come in between. */
            ended = 1;
            poll(waits, 1, 0);
        }
        if (waits[0].revents != 0) return 0;
        if (ended || (waits[1].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) return -1;
    }
}

/* A branch that crashed is gone; its failure begins with "crash: ", by which Anabranch tells it from others. */
static void abx_put_crash(abx_kit *kit, abx_branch *branch, abx_bytes *out) {
    char text[256];
    abx_autopsy(branch, text, sizeof text);
    abx_put_failed(out, text);
    abx_destroy(kit, abx_remove(&kit->branches, branch->number));
}

/* Reads what a process says, as long as it lives and Anabranch is there. */
static int abx_hear(const abx_kit *kit, int fd, pid_t pid, void *data, size_t size) {
    unsigned char *at = (unsigned char *)data;
    while (size > 0) {
        ssize_t got;
        if (abx_await(kit, fd, pid) != 0) return -1;
        got = recv(fd, at, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        at += got;
        size -= (size_t)got;
    }
    return 0;
}

/* Takes the answer of a process that is busy. Afterwards the branch may be gone. */
static void abx_collect(abx_kit *kit, abx_branch *branch) {
    abx_bytes *out = &kit->answers[branch->busy - 1];
    const int fd = branch->fd;
    uint32_t size;
    double seconds;
    branch->busy = 0;
    out->size = 0;
    if (abx_hear(kit, fd, branch->pid, &size, sizeof size) == 0 && size <= ABX_MESSAGE_BYTES_MAX &&
        abx_hear(kit, fd, branch->pid, &seconds, sizeof seconds) == 0 &&
        abx_hear(kit, fd, branch->pid, abx_extend(out, size), size) == 0) {
        kit->seconds += seconds;
        return;
    }
    out->size = 0;
    abx_put_crash(kit, branch, out);
}

static abx_branch *abx_settled(abx_kit *kit, uint32_t number) {
    abx_branch *branch = abx_find(&kit->branches, number);
    if (branch != NULL && branch->busy > 0) {
        abx_collect(kit, branch);
        branch = abx_find(&kit->branches, number);
    }
    return branch;
}

/* A new process like this one; NULL if there can be none. */
static abx_branch *abx_fork_from(abx_kit *kit, const abx_branch *parent, uint32_t number) {
    int ends[2];
    int64_t pid;
    abx_branch *branch;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return NULL;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    if (abx_send_fork(parent->fd, ends[1]) != 0) {
        close(ends[0]);
        close(ends[1]);
        return NULL;
    }
    close(ends[1]);
    if (abx_hear(kit, ends[0], parent->pid, &pid, sizeof pid) != 0) {
        close(ends[0]);
        return NULL;
    }
    branch = abx_new_branch(number);
    branch->fd = ends[0];
    branch->pid = (pid_t)pid;
    return branch;
}

/* Hands an operation to the process of a branch; its answer is taken later, so that processes work side by side. */
static void abx_forward(abx_kit *kit, abx_branch *branch, const abx_op *op, size_t index) {
    unsigned char order[ABX_ORDER_BYTES];
    uint32_t size = (uint32_t)op->raw_size;
    order[0] = ABX_ORDER_OP;
    memcpy(order + 1, &size, sizeof size);
    if (abx_write_all(branch->fd, order, sizeof order) != 0 || abx_write_all(branch->fd, op->raw, op->raw_size) != 0) {
        abx_put_crash(kit, branch, &kit->answers[index]);
        return;
    }
    branch->busy = index + 1;
    kit->busy[kit->busy_count++] = branch->number;
}

static void abx_broker_reset(abx_kit *kit, abx_op *op, size_t index) {
    abx_branch *branch = abx_fork_from(kit, &kit->first, op->branch);
    abx_settled(kit, op->branch);
    abx_destroy(kit, abx_remove(&kit->branches, op->branch));
    if (branch == NULL) {
        abx_put_failed(&kit->answers[index], "no process could be forked for the branch");
        return;
    }
    abx_insert(&kit->branches, branch);
    abx_forward(kit, branch, op, index);
}

static void abx_broker_load(abx_kit *kit, const abx_op *op, abx_bytes *out) {
    abx_branch *token = abx_find(&kit->tokens, op->token), *branch;
    if (token == NULL) {
        abx_put_no(out, "saved state", op->token);
        return;
    }
    branch = abx_fork_from(kit, token, op->branch);
    abx_settled(kit, op->branch);
    abx_destroy(kit, abx_remove(&kit->branches, op->branch));
    if (branch == NULL) {
        ab_fail("no process could be forked from the saved state; %lu of them wait already", (unsigned long)kit->tokens.count);
        abx_put_failed(out, abx_text);
        return;
    }
    abx_insert(&kit->branches, branch);
    abx_put_done(out);
}

static void abx_broker_do(abx_kit *kit, abx_op *op, size_t index) {
    abx_bytes *out = &kit->answers[index];
    abx_branch *branch;
    switch (op->verb) {
    case ABX_RESET: abx_broker_reset(kit, op, index); break;
    case ABX_LOAD: abx_broker_load(kit, op, out); break;
    case ABX_STEP:
    case ABX_RUN:
        branch = abx_settled(kit, op->branch);
        if (branch == NULL) {
            abx_put_no(out, "branch", op->branch);
        } else {
            abx_forward(kit, branch, op, index);
        }
        break;
    case ABX_SAVE: abx_settled(kit, op->branch); abx_do_save(kit, op, out); break;
    default: abx_do(kit, op, out); break;
    }
}

/* Forks the process that all others come from. */
static int abx_start_broker(abx_kit *kit) {
    struct rlimit files;
    int ends[2];
    int64_t pid;
    kit->broker = getpid();
    /* Each saved state takes a socket of the broker. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    pid = (int64_t)fork();
    if (pid == 0) {
        close(ends[0]);
        abx_obey(kit, ends[1]);
    }
    close(ends[1]);
    kit->first.fd = ends[0];
    kit->first.pid = (pid_t)pid;
    return pid < 0 || abx_read_all(ends[0], &pid, sizeof pid) != 0 ? -1 : 0;
}

/* ---- Requests and replies ---- */

typedef struct abx_request {
    int has_version;
    uint64_t version, seq;
    abx_reader ops;
    size_t op_count;
} abx_request;

/* Looks through the whole message; what it finds whole need not be doubted again. */
static void abx_take_request(abx_reader *in, abx_request *request) {
    abx_item map = abx_take(in);
    uint64_t pair;
    memset(request, 0, sizeof *request);
    if (map.kind != ABX_MAP) abx_broken(in, "not a map");
    for (pair = 0; pair < map.number && in->problem == NULL; pair++) {
        abx_item key = abx_take(in);
        if (abx_is(&key, "anabranch")) {
            in->field = "anabranch";
            request->version = abx_take_uint(in, UINT64_MAX);
            request->has_version = 1;
        } else if (abx_is(&key, "seq")) {
            in->field = "seq";
            request->seq = abx_take_uint(in, UINT64_MAX);
        } else if (abx_is(&key, "ops")) {
            abx_reader ops = *in;
            in->field = "ops";
            abx_skip(in);
            if (in->problem != NULL) break;
            request->op_count = (size_t)abx_take_members(&ops, ABX_BRANCHES_MAX);
            request->ops = ops;
            request->ops.field = NULL;
            if (ops.problem != NULL) *in = ops;
        } else {
            in->field = "a key";
            abx_skip(in);
        }
    }
    if (in->problem == NULL && in->at != in->end) abx_broken(in, "bytes after the message");
    if (in->problem == NULL) in->field = NULL;
}

static void abx_put_reply_head(abx_bytes *out, uint64_t seq, size_t answers) {
    out->size = 0;
    abx_put_map(out, 4);
    abx_put_text(out, "anabranch");
    abx_put_uint(out, ABX_PROTOCOL);
    abx_put_text(out, "seq");
    abx_put_uint(out, seq);
    abx_put_text(out, "answers");
    abx_put_array(out, answers);
}

static void abx_put_reply_tail(const abx_kit *kit, abx_bytes *out) {
    abx_put_text(out, "seconds");
    abx_put_real(out, kit->seconds);
}

static void abx_do_all(abx_kit *kit, abx_request *request, abx_bytes *out) {
    size_t at;
    for (at = 0; at < request->op_count; at++) {
        abx_reader problem;
        abx_op op = abx_take_op(&request->ops, &problem);
        abx_bytes *answer = kit->snapshot == AB_FORK ? &kit->answers[at] : out;
        const char *missing = abx_missing(&op);
        if (problem.problem != NULL) {
            abx_put_failed(answer, abx_complaint(&problem, "operation"));
        } else if (missing != NULL) {
            abx_put_failed(answer, missing);
        } else if (out->size > ABX_MESSAGE_BYTES_MAX / 2) {
            abx_put_failed(answer, "the reply would become too long; ask for less at once");
        } else if (kit->snapshot == AB_FORK) {
            abx_broker_do(kit, &op, at);
        } else {
            abx_do(kit, &op, answer);
        }
    }
}

static void abx_answer(abx_kit *kit, const unsigned char *data, size_t size, abx_bytes *out) {
    abx_reader in = abx_reader_of(data, size);
    abx_request request;
    size_t at;
    kit->seconds = 0.0;
    abx_take_request(&in, &request);
    if (in.problem == NULL && (!request.has_version || request.version != ABX_PROTOCOL)) {
        in.field = "anabranch";
        abx_broken(&in, "another version of the protocol; this is 1");
    }
    if (in.problem != NULL) {
        abx_put_reply_head(out, request.seq, 1);
        abx_put_failed(out, abx_complaint(&in, "request"));
        abx_put_reply_tail(kit, out);
        return;
    }
    abx_put_reply_head(out, request.seq, request.op_count);
    if (kit->snapshot == AB_FORK) {
        kit->answers = (abx_bytes *)abx_need(calloc(request.op_count + 1, sizeof *kit->answers));
        kit->busy = (uint32_t *)abx_need(calloc(request.op_count + 1, sizeof *kit->busy));
        kit->busy_count = 0;
    }
    abx_do_all(kit, &request, out);
    if (kit->snapshot == AB_FORK) {
        for (at = 0; at < kit->busy_count; at++) abx_settled(kit, kit->busy[at]);
        for (at = 0; at < request.op_count; at++) {
            abx_put(out, kit->answers[at].data, kit->answers[at].size);
            abx_free(&kit->answers[at]);
        }
        free(kit->answers);
        free(kit->busy);
    }
    abx_put_reply_tail(kit, out);
}

/* ---- The link: ZMTP 3.0, mechanism NULL, socket type REP ---- */

#define ABX_MORE 1u
#define ABX_LONG 2u
#define ABX_COMMAND 4u
#define ABX_GREETING_BYTES 64

typedef struct abx_link {
    int fd;
    size_t at, size;
    abx_bytes message, envelope, command;
    unsigned char buffer[65536];
} abx_link;

static int abx_pull(abx_link *link, void *to, size_t size) {
    unsigned char *at = (unsigned char *)to;
    while (size > 0) {
        size_t have = link->size - link->at, part;
        if (have == 0) {
            ssize_t got = recv(link->fd, link->buffer, sizeof link->buffer, 0);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return -1;
            link->at = 0;
            link->size = have = (size_t)got;
        }
        part = have < size ? have : size;
        memcpy(at, link->buffer + link->at, part);
        link->at += part;
        at += part;
        size -= part;
    }
    return 0;
}

/* Appends as bytes arrive: a length alone allots nothing. */
static int abx_pull_into(abx_link *link, abx_bytes *bytes, uint64_t size) {
    while (size > 0) {
        size_t part = size < sizeof link->buffer ? (size_t)size : sizeof link->buffer;
        size_t before = bytes->size;
        abx_extend(bytes, part);
        if (abx_pull(link, bytes->data + before, part) != 0) return -1;
        size -= part;
    }
    return 0;
}

static size_t abx_frame_head(unsigned char *head, unsigned flags, uint64_t size) {
    if (size < 256) {
        head[0] = (unsigned char)flags;
        head[1] = (unsigned char)size;
        return 2;
    }
    head[0] = (unsigned char)(flags | ABX_LONG);
    abx_big_endian(head + 1, size, 8);
    return 9;
}

static int abx_pull_head(abx_link *link, unsigned *flags, uint64_t *size) {
    unsigned char head[9];
    size_t at;
    if (abx_pull(link, head, 1) != 0) return -1;
    *flags = head[0];
    if ((*flags & ~(ABX_MORE | ABX_LONG | ABX_COMMAND)) != 0) return -1;
    *size = 0;
    if ((*flags & ABX_LONG) == 0) {
        if (abx_pull(link, head, 1) != 0) return -1;
        *size = head[0];
        return 0;
    }
    if (abx_pull(link, head, 8) != 0) return -1;
    for (at = 0; at < 8; at++) *size = *size << 8 | head[at];
    return 0;
}

/* Reads a command into `link->command`. */
static int abx_pull_command(abx_link *link, unsigned flags, uint64_t size) {
    link->command.size = 0;
    if ((flags & ABX_MORE) != 0 || size == 0 || size > ABX_COMMAND_BYTES_MAX) return -1;
    return abx_pull_into(link, &link->command, size);
}

static int abx_command_is(const abx_link *link, const char *name) {
    size_t size = strlen(name);
    return link->command.size > size && link->command.data[0] == size && memcmp(link->command.data + 1, name, size) == 0;
}

/* A PING (ZMTP 3.1) is answered with its context; other commands are none of our business. */
static int abx_heed_command(abx_link *link) {
    unsigned char pong[2 + 5 + 16] = { ABX_COMMAND, 0, 4, 'P', 'O', 'N', 'G' };
    size_t context = link->command.size;
    if (abx_command_is(link, "ERROR")) return -1;
    if (!abx_command_is(link, "PING") || context < 7) return 0;
    context = context - 7 < 16 ? context - 7 : 16;
    memcpy(pong + 7, link->command.data + 7, context);
    pong[1] = (unsigned char)(5 + context);
    return abx_write_all(link->fd, pong, 7 + context);
}

/* Whether the peer may ask questions of a REP socket. */
static int abx_peer_asks(const abx_link *link) {
    const unsigned char *at = link->command.data + 6, *end = link->command.data + link->command.size;
    while (end - at > 1) {
        size_t name = at[0], value;
        if ((size_t)(end - at) < 1 + name + 4) return 0;
        value = (size_t)at[1 + name] << 24 | (size_t)at[2 + name] << 16 | (size_t)at[3 + name] << 8 | at[4 + name];
        if ((size_t)(end - at) - 5 - name < value) return 0;
        if (name == 11 && memcmp(at + 1, "Socket-Type", 11) == 0) {
            const unsigned char *type = at + 5 + name;
            return (value == 3 && memcmp(type, "REQ", 3) == 0) || (value == 6 && memcmp(type, "DEALER", 6) == 0);
        }
        at += 5 + name + value;
    }
    return 0;
}

static void abx_set_patience(int fd, long seconds) {
    struct timeval patience;
    patience.tv_sec = seconds;
    patience.tv_usec = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

static int abx_handshake(abx_link *link) {
    static const unsigned char ready[] = "\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03REP";
    unsigned char ours[ABX_GREETING_BYTES], theirs[ABX_GREETING_BYTES];
    unsigned flags;
    uint64_t size;
    memset(ours, 0, sizeof ours);
    ours[0] = 0xff;
    ours[9] = 0x7f;
    ours[10] = 3;
    memcpy(ours + 12, "NULL", 4);
    if (abx_write_all(link->fd, ours, sizeof ours) != 0 || abx_pull(link, theirs, sizeof theirs) != 0) return -1;
    if (theirs[0] != 0xff || (theirs[9] & 1) == 0 || theirs[10] < 3 || memcmp(theirs + 12, ours + 12, 20) != 0) return -1;
    if (abx_write_all(link->fd, ready, sizeof ready - 1) != 0) return -1;
    if (abx_pull_head(link, &flags, &size) != 0 || (flags & ABX_COMMAND) == 0 || abx_pull_command(link, flags, size) != 0) return -1;
    return abx_command_is(link, "READY") && abx_peer_asks(link) ? 0 : -1;
}

/* Frames before the empty one say where the answer goes, and are sent back as they came. */
static int abx_pull_envelope(abx_link *link, unsigned flags, uint64_t size) {
    unsigned char head[9];
    size_t head_size = abx_frame_head(head, ABX_MORE, size);
    if ((flags & ABX_MORE) == 0 || size + link->envelope.size + head_size > ABX_ENVELOPE_BYTES_MAX) return -1;
    abx_put(&link->envelope, head, head_size);
    return abx_pull_into(link, &link->envelope, size);
}

/* The next request into `link->message`. Blobs in further frames are passed over. Negative at the end of the link. */
static int abx_receive(abx_link *link) {
    int in_envelope = 1;
    size_t bodies = 0;
    uint64_t total = 0;
    link->message.size = link->envelope.size = 0;
    for (;;) {
        unsigned flags;
        uint64_t size;
        abx_bytes *into = bodies == 0 ? &link->message : &link->command;
        if (abx_pull_head(link, &flags, &size) != 0) return -1;
        if ((flags & ABX_COMMAND) != 0) {
            if (abx_pull_command(link, flags, size) != 0 || abx_heed_command(link) != 0) return -1;
            continue;
        }
        if (in_envelope) {
            if (abx_pull_envelope(link, flags, size) != 0) return -1;
            in_envelope = size > 0;
            continue;
        }
        total += size;
        if (size > ABX_MESSAGE_BYTES_MAX || total > ABX_MESSAGE_BYTES_MAX) {
            fprintf(stderr, "anabranch: a message of more than %lu bytes; the link is closed\n", (unsigned long)ABX_MESSAGE_BYTES_MAX);
            return -1;
        }
        into->size = 0;
        if (abx_pull_into(link, into, size) != 0) return -1;
        bodies += 1;
        if ((flags & ABX_MORE) == 0) return 0;
    }
}

static int abx_send(abx_link *link, const abx_bytes *body) {
    unsigned char head[9];
    size_t head_size = abx_frame_head(head, 0, body->size);
    struct iovec parts[3];
    struct msghdr message;
    ssize_t sent;
    size_t skip, at;
    parts[0].iov_base = link->envelope.data;
    parts[0].iov_len = link->envelope.size;
    parts[1].iov_base = head;
    parts[1].iov_len = head_size;
    parts[2].iov_base = body->data;
    parts[2].iov_len = body->size;
    memset(&message, 0, sizeof message);
    message.msg_iov = parts;
    message.msg_iovlen = 3;
    do {
        sent = sendmsg(link->fd, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) return -1;
    /* What did not fit at once. */
    skip = (size_t)sent;
    for (at = 0; at < 3; at++) {
        size_t done = skip < parts[at].iov_len ? skip : parts[at].iov_len;
        skip -= done;
        if (done < parts[at].iov_len && abx_write_all(link->fd, (unsigned char *)parts[at].iov_base + done, parts[at].iov_len - done) != 0) return -1;
    }
    return 0;
}

/* ---- Addresses ---- */

typedef union abx_address {
    struct sockaddr any;
    struct sockaddr_un file;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} abx_address;

static socklen_t abx_file_address(const char *path, abx_address *address) {
    size_t size = strlen(path);
    if (size == 0 || size >= sizeof address->file.sun_path) return 0;
    address->file.sun_family = AF_UNIX;
    memcpy(address->file.sun_path, path, size);
    if (path[0] != '@') return (socklen_t)sizeof address->file;
    /* ZeroMQ's way to write a name that is in no file system. */
    address->file.sun_path[0] = 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
}

/* Understands "ipc://path", "tcp://127.0.0.1:5555", "tcp://localhost:5555" and "tcp://[::1]:5555"; 0 for anything else. */
static socklen_t abx_parse_endpoint(const char *endpoint, abx_address *address) {
    char host[64];
    const char *colon, *text;
    long port;
    char *end;
    memset(address, 0, sizeof *address);
    if (strncmp(endpoint, "ipc://", 6) == 0) return abx_file_address(endpoint + 6, address);
    if (strncmp(endpoint, "tcp://", 6) != 0) return 0;
    text = endpoint + 6;
    colon = strrchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof host) return 0;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = 0;
    port = strcmp(colon + 1, "*") == 0 ? 0 : strtol(colon + 1, &end, 10);
    if (strcmp(colon + 1, "*") != 0 && (*end != 0 || end == colon + 1 || port < 0 || port > 65535)) return 0;
    if (strcmp(host, "[::1]") == 0) {
        address->six.sin6_family = AF_INET6;
        address->six.sin6_port = htons((uint16_t)port);
        address->six.sin6_addr = in6addr_loopback;
        return (socklen_t)sizeof address->six;
    }
    address->four.sin_family = AF_INET;
    address->four.sin_port = htons((uint16_t)port);
    if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &address->four.sin_addr) != 1) return 0;
    /* Nobody beyond this machine may ask. */
    return ntohl(address->four.sin_addr.s_addr) >> 24 == 127 ? (socklen_t)sizeof address->four : 0;
}

static int abx_socket(const abx_address *address) {
    int fd = socket(address->any.sa_family, SOCK_STREAM, 0), one = 1;
    if (fd < 0) return -1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (address->any.sa_family != AF_UNIX) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
#ifdef SO_NOSIGPIPE
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
#endif
    return fd;
}

static int abx_connect(const char *endpoint) {
    abx_address address;
    socklen_t size = abx_parse_endpoint(endpoint, &address);
    int tries;
    if (size == 0) {
        fprintf(stderr, "anabranch: the endpoint `%s` is neither ipc:// nor tcp:// on this machine\n", endpoint);
        return -1;
    }
    for (tries = 0; tries < ABX_CONNECT_TRIES; tries++) {
        int fd = abx_socket(&address);
        if (fd < 0) break;
        if (connect(fd, &address.any, size) == 0) return fd;
        close(fd);
        if (errno != ECONNREFUSED && errno != ENOENT && errno != EAGAIN && errno != EINTR) break;
        poll(NULL, 0, ABX_CONNECT_PAUSE_MS);
    }
    fprintf(stderr, "anabranch: nobody listens at `%s`: %s\n", endpoint, strerror(errno));
    return -1;
}

/* Binds; a socket file that nobody listens at any more is replaced. */
static int abx_bind(const char *endpoint, const abx_address *address, socklen_t size) {
    int fd = abx_socket(address), one = 1, probe, stale;
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, &address->any, size) == 0) return fd;
    if (errno == EADDRINUSE && address->any.sa_family == AF_UNIX && address->file.sun_path[0] != 0) {
        probe = abx_socket(address);
        stale = probe >= 0 && connect(probe, &address->any, size) != 0 && errno == ECONNREFUSED;
        if (probe >= 0) close(probe);
        if (stale && unlink(endpoint + 6) == 0 && bind(fd, &address->any, size) == 0) return fd;
        errno = EADDRINUSE;
    }
    fprintf(stderr, "anabranch: cannot listen at `%s`: %s\n", endpoint, strerror(errno));
    close(fd);
    return -1;
}

static int abx_listen(const char *endpoint) {
    abx_address address;
    socklen_t size = abx_parse_endpoint(endpoint, &address);
    int fd;
    if (size == 0) {
        fprintf(stderr, "anabranch: cannot listen at `%s`: it must be ipc:// or tcp:// on 127.0.0.1\n", endpoint);
        return -1;
    }
    fd = abx_bind(endpoint, &address, size);
    if (fd < 0 || listen(fd, 8) != 0) return -1;
    if (address.any.sa_family == AF_INET) {
        size = (socklen_t)sizeof address.four;
        getsockname(fd, &address.any, &size);
        fprintf(stderr, "anabranch: listening at tcp://127.0.0.1:%u\n", (unsigned)ntohs(address.four.sin_port));
    } else {
        fprintf(stderr, "anabranch: listening at %s\n", endpoint);
    }
    return fd;
}

/* ---- Serving ---- */

/* Answers one peer until it is gone or says goodbye. */
static void abx_converse(abx_kit *kit, abx_link *link) {
    abx_bytes reply;
    memset(&reply, 0, sizeof reply);
    link->at = link->size = 0;
    kit->link_fd = link->fd;
    abx_set_patience(link->fd, ABX_HANDSHAKE_S);
    if (abx_handshake(link) != 0) {
        fputs("anabranch: the other side is no REQ socket of ZeroMQ\n", stderr);
    } else {
        abx_set_patience(link->fd, 0);
        while (!kit->bye && abx_receive(link) == 0) {
            abx_answer(kit, link->message.data, link->message.size, &reply);
            if (abx_send(link, &reply) != 0) break;
        }
    }
    close(link->fd);
    kit->link_fd = -1;
    abx_free(&reply);
    /* What the peer left behind nobody can ask for any more. */
    abx_destroy_all(kit, &kit->branches);
    abx_destroy_all(kit, &kit->tokens);
}

/* Which snapshot was asked for by the environment; -1 for a word that is none. */
static int abx_snapshot_named(const char *word) {
    static const char *const words[] = { "auto", "memory", "copy", "own", "fork", "replay" };
    int at;
    for (at = 0; at < (int)ABX_COUNT(words); at++) {
        if (strcmp(word, words[at]) == 0) return at;
    }
    return -1;
}

static ab_snapshot abx_natural_snapshot(const abx_kit *kit) {
    if (kit->copy != NULL && kit->destroy != NULL) return AB_COPY;
    if (kit->save != NULL && kit->load != NULL) return AB_OWN;
    return kit->state_bytes > 0 || kit->memoryless ? AB_MEMORY : AB_FORK;
}

/* Chooses how states are kept; a wish that cannot be met is an error. */
static int abx_choose_snapshot(abx_kit *kit, ab_snapshot wish) {
    const char *word = getenv("ANABRANCH_SNAPSHOT");
    int possible = 1;
    if (word != NULL && *word != 0) {
        int named = abx_snapshot_named(word);
        if (named < 0) {
            fprintf(stderr, "anabranch: ANABRANCH_SNAPSHOT is `%s`; write memory, copy, own, fork or replay\n", word);
            return -1;
        }
        wish = (ab_snapshot)named;
        if (wish == AB_COPY && kit->copy == NULL) wish = AB_MEMORY;
    }
    kit->saves = wish != AB_REPLAY;
    kit->snapshot = wish == AB_AUTO || wish == AB_REPLAY ? abx_natural_snapshot(kit) : wish;
    if (kit->snapshot == AB_MEMORY) possible = kit->state_bytes > 0 || kit->memoryless;
    if (kit->snapshot == AB_COPY) possible = kit->copy != NULL && kit->destroy != NULL;
    if (kit->snapshot == AB_OWN) possible = kit->save != NULL && kit->load != NULL;
    if (!possible) fprintf(stderr, "anabranch: `%s` does not have what its snapshot needs: state_bytes, copy and destroy, or save and load\n", kit->name);
    return possible ? 0 : -1;
}

static int abx_prepare(abx_kit *kit) {
    memset(&kit->first, 0, sizeof kit->first);
    kit->first.fd = -1;
    kit->link_fd = -1;
    if (kit->snapshot == AB_MEMORY && kit->state_bytes > 0) abx_put(&kit->pristine, kit->state, kit->state_bytes);
    if (kit->snapshot == AB_OWN && kit->reset == NULL && abx_save_bytes(kit, &kit->pristine) != 0) {
        fprintf(stderr, "anabranch: `%s` could not save its first state\n", kit->name);
        return -1;
    }
    if (kit->snapshot == AB_FORK && abx_start_broker(kit) != 0) {
        fputs("anabranch: no process could be forked\n", stderr);
        return -1;
    }
    return 0;
}

static int abx_serve_kit(abx_kit *kit) {
    const char *given = getenv("ANABRANCH_ENDPOINT");
    const char *bound = kit->endpoint != NULL ? kit->endpoint : ABX_DEFAULT_ENDPOINT;
    abx_link *link = (abx_link *)abx_need(calloc(1, sizeof *link));
    int status = 1, listener = -1;
    if (given != NULL && *given != 0) {
        link->fd = abx_connect(given);
        if (link->fd >= 0) {
            abx_converse(kit, link);
            status = 0;
        }
    } else if ((listener = abx_listen(bound)) >= 0) {
        status = 0;
        while (!kit->bye) {
            link->fd = accept(listener, NULL, NULL);
            if (link->fd < 0 && errno != EINTR && errno != ECONNABORTED) break;
            if (link->fd >= 0) abx_converse(kit, link);
        }
        close(listener);
        if (strncmp(bound, "ipc:///", 7) == 0) unlink(bound + 6);
    }
    abx_free(&link->message);
    abx_free(&link->envelope);
    abx_free(&link->command);
    free(link);
    return status;
}

static int abx_start(abx_kit *kit, ab_snapshot wish) {
    int status = 1;
    if (abx_choose_snapshot(kit, wish) != 0) return 2;
    if (abx_prepare(kit) == 0) status = abx_serve_kit(kit);
    if (kit->snapshot == AB_FORK) abx_end_process(&kit->first);
    abx_free(&kit->pristine);
    return status;
}

#define ABX_TAKE_MEMORY_FIELDS(kit, from) \
    do { \
        (kit).name = (from)->name, (kit).reset = (from)->reset, (kit).state = (from)->state, (kit).state_bytes = (from)->state_bytes; \
        (kit).copy = (from)->copy, (kit).destroy = (from)->destroy, (kit).save = (from)->save, (kit).load = (from)->load; \
        (kit).memoryless = (from)->memoryless != 0, (kit).endpoint = (from)->endpoint; \
    } while (0)

int ab_serve(const ab_driver *driver) {
    abx_kit kit;
    memset(&kit, 0, sizeof kit);
    if (driver->name == NULL || driver->step == NULL || driver->key_count > AB_KEY_MAX) {
        fputs("anabranch: a driver needs a name, a step and at most 64 key variables\n", stderr);
        return 2;
    }
    kit.driver = driver;
    ABX_TAKE_MEMORY_FIELDS(kit, driver);
    return abx_start(&kit, driver->snapshot);
}

int ab_serve_world(const ab_world *world) {
    abx_kit kit;
    memset(&kit, 0, sizeof kit);
    if (world->name == NULL || world->run == NULL || world->merge_count == 0 || world->merge_count > AB_KEY_MAX ||
        world->requirement_count > AB_REQUIREMENTS_MAX) {
        fputs("anabranch: a world needs a name, a run, 1 to 64 merge variables and at most 64 requirements\n", stderr);
        return 2;
    }
    kit.world = world;
    ABX_TAKE_MEMORY_FIELDS(kit, world);
    return abx_start(&kit, world->snapshot);
}

#endif /* ANABRANCH_IMPLEMENTATION */
