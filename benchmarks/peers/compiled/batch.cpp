// A loop over samples around code for one: its numbers become vectors, with a sample in each lane.

#include <cmath>

#if LANES == 1
typedef double real;

static inline double & lane(real & x, int) { return x; }
using std::cos;
using std::sin;
#else
typedef double Lanes __attribute__((vector_size(sizeof(double) * LANES)));

struct real
{
  Lanes all;

  real() = default;
  real(Lanes x) : all(x) {}
  real(double x) : all(x - Lanes{}) {}
};

static inline real operator+(real a, real b) { return a.all + b.all; }
static inline real operator-(real a, real b) { return a.all - b.all; }
static inline real operator*(real a, real b) { return a.all * b.all; }
static inline real operator/(real a, real b) { return a.all / b.all; }
static inline real operator-(real x) { return -x.all; }
static inline real & operator+=(real & a, real b) { return a = a + b; }

// A loop that the compiler has vectors for.
template<double function(double)>
static inline real of_each(real x)
{
  double given[LANES], found[LANES];
  __builtin_memcpy(given, &x, sizeof x);
  for (int k = 0; k < LANES; ++k)
    found[k] = function(given[k]);
  __builtin_memcpy(&x, found, sizeof x);
  return x;
}

static inline real cos(real x) { return of_each<std::cos>(x); }
static inline real sin(real x) { return of_each<std::sin>(x); }
static inline auto & lane(real & x, int k) { return (reinterpret_cast<double *>(&x))[k]; }
#endif

static inline void one(const real * x, real * y)
{
  // the code
}

extern "C" void run(long count, const double * const * given, double * __restrict found)
{
  const int results = SYMMETRIC ? SIZE * (SIZE + 1) / 2 : SIZE, stride = SYMMETRIC ? SIZE * SIZE : SIZE;
  for (long first = 0; first < count; first += LANES)
  {
    real x[ARRAYS * SIZE], y[results];
    const int used = count - first < LANES ? count - first : LANES;
    long start[LANES];
    for (int k = 0; k < LANES; ++k) // the last lanes do the last sample again
      start[k] = (first + (k < used ? k : used - 1)) * SIZE;
    for (int array = 0; array < ARRAYS; ++array)
      for (int joint = 0; joint < SIZE; ++joint)
        for (int k = 0; k < LANES; ++k)
          lane(x[array * SIZE + joint], k) = given[array][start[k] + joint];
    one(x, y);
    for (int k = 0; k < used; ++k)
      for (int row = 0, from = 0; from < results; ++row)
        for (int column = SYMMETRIC ? row : 0; column < SIZE; ++column)
          found[(first + k) * stride + row * SIZE + column] = lane(y[from++], k);
  }
}
